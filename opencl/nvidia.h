// Peculiarities of NVIDIA's driver, whose compiler answers PTX for a program's binary.
#pragma once

#include <string>

#include "device/backend.h"

namespace duogemm::opencl {

// The program with all that OpenCL C has no words for, and PTX has.
std::string with_more_than_opencl_says(const std::string& ptx, const ProgramSource& source);

}  // namespace duogemm::opencl
