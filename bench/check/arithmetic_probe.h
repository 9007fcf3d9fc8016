// Finds the instruction of the device that is not IEEE 754's, where results differ by a bit.
#pragma once

#include <string>

#include "device/backend.h"

namespace duogemm {

// Says which single instructions the device computes wrong; empty where all that were tried are right.
std::string broken_instructions(Device& device, Queue& queue);

}  // namespace duogemm
