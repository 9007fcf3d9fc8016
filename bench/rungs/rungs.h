// The kernels that the library has not: the ladder's rungs, what supports them, and what measures a device.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/kernel_spec.h"

namespace duogemm {

// Every kernel there is: the rungs in their order, what supports them, and the library's. To add one of these
// is one file under kernels/ladder/ or kernels/support/ and one entry in rungs.cpp.
const std::vector<const KernelSpec*>& all_kernels();

// The one of that name. Throws invalid_argument naming those that there are.
const KernelSpec& any_kernel(std::string_view name);

}  // namespace duogemm
