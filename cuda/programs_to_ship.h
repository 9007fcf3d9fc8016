// Which programs the library carries: for each of its tuning files that speaks of a CUDA device and its
// compute capability, those that such a device may need. Each once.
#pragma once

#include <vector>

#include "device/backend.h"

namespace duogemm::cuda {

struct ShippedProgram {
  ProgramSource source;
  int compute_capability;
};

std::vector<ShippedProgram> programs_to_ship();

}  // namespace duogemm::cuda
