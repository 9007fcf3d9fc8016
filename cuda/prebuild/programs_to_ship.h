// Which programs the library carries: for each of its tuning files that names a compute capability, those
// that such a device may need. Each once.
#pragma once

#include <string>
#include <vector>

#include "device/backend.h"

namespace duogemm::cuda {

struct ShippedProgram {
  ProgramSource source;
  std::string runtime;  // "cuda" or "opencl"
  int compute_capability;
};

// For these runtimes. OpenCL's kernels that declare more local memory than every device has are left out.
std::vector<ShippedProgram> programs_to_ship(const std::vector<std::string>& runtimes);

}  // namespace duogemm::cuda
