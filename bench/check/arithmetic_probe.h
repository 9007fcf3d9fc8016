// Where results differ by a bit: which instruction of the device is not IEEE 754's.
#pragma once

#include <string>

#include "device/backend.h"

namespace duogemm {

// What the device computes wrong of single instructions; empty where all that were tried are right.
std::string broken_instructions(Device& device, Queue& queue);

}  // namespace duogemm
