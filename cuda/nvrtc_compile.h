// Compiles a kernel's text at run time, by the NVRTC that is found then. Where there is none, each function
// but nvrtc_version() throws unsupported, and says what to install.
#pragma once

#include <string>

#include "device/backend.h"

namespace duogemm::cuda {

// What NVRTC is told besides the text, in one line, for a device of the compute capability (90 for 9.0).
// Throws unsupported when this NVRTC no longer knows the device.
std::string nvrtc_option_text(const ProgramSource& source, int compute_capability);

struct NvrtcProgram {
  std::string image;  // for cuModuleLoadData: a cubin, or PTX where this NVRTC is older than the device
  std::string ptx;
  std::string log;
  bool native;  // whether the image is a cubin
};

// Explaining keeps this of it.
KernelFacts texts_of(const NvrtcProgram& program);

// `explain`: the log is to say what registers a kernel takes. Throws build_failed with the compiler's log.
NvrtcProgram compile_with_nvrtc(const ProgramSource& source, int compute_capability, bool explain = false);

// The PTX of such a program for NVIDIA's OpenCL driver (DUOGEMM_FOR_OPENCL in compat/dialect.h), but that it
// is still CUDA's in what the language has no words for.
std::string ptx_for_opencl(const ProgramSource& source, int compute_capability);

// The first compute capability that this NVRTC knows.
int oldest_capability();

// "13.0", or "none".
std::string nvrtc_version();

}  // namespace duogemm::cuda
