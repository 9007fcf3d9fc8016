// Programs for NVIDIA's OpenCL driver, made without it by CUDA's compiler and assembler.
#pragma once

#include <string>

#include "device/backend.h"

namespace duogemm::cuda {

// What clCreateProgramWithBinary takes for a device of exactly this compute capability: a cubin. Throws
// build_failed with the compiler's or the assembler's log.
std::string opencl_cubin(const ProgramSource& source, int compute_capability);

// What it does to a program besides compiling it as for CUDA, in words.
std::string opencl_option_text();

}  // namespace duogemm::cuda
