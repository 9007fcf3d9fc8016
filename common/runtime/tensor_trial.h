// Whether kernels for tensor cores do what they should.
#pragma once

#include "device/backend.h"
#include "runtime/program_cache.h"

namespace duogemm {

// NVIDIA documents no way to have such kernels through OpenCL, and another driver may do without the one that
// is used (see compat/warpgroups.h). Multiplies small integers, whose product is exact, and looks. True
// without a trial where the runtime is made for such kernels, or the device has none.
bool tensor_cores_work(Device& device, ProgramCache& programs);

}  // namespace duogemm
