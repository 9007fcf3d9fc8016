// Compiles a kernel's text at run time.
#pragma once

#include <string>

#include "backend.h"

namespace duogemm::cuda {

// Options that every kernel is compiled with, at build time by nvcc and at run time by NVRTC. No contraction:
// only an explicit fma is fused.
inline constexpr const char* contraction_option = "--fmad=false";

// A cubin for the compute capability (90 for 9.0), or PTX where this NVRTC is older than the device: what
// cuModuleLoadData takes. Throws build_failed with the compiler's log.
std::string compile_with_nvrtc(const ProgramSource& source, int compute_capability);

// "13.0"
std::string nvrtc_version();

}  // namespace duogemm::cuda
