// Whether kernels for tensor cores do what they should.
#pragma once

#include "device/backend.h"
#include "runtime/program_cache.h"

namespace duogemm {

// The kernel that multiplies pieces on this device, the fastest that works; null where none does. NVIDIA
// documents no way to have such kernels through OpenCL, and another driver may do without those that are used
// (see compat/). So there, each multiplies small integers, whose product is exact, until one is right.
const KernelSpec* working_tensor_kernel(Device& device, ProgramCache& programs);

}  // namespace duogemm
