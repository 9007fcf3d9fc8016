// When a device's bits are not the chain's: which instruction is to blame.
#pragma once

#include <string>

#include "test_devices.h"

namespace duogemm::testing {

// Runs each operation that kernels are made of on inputs whose right result is known to the bit. Names those
// that the device gets wrong, with what it answered; "no instruction: look at the kernel" when it gets all of
// them right.
std::string broken_instructions(TestDevice& device);

}  // namespace duogemm::testing
