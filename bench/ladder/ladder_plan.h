// Plans that run the rungs of the ladder.
#pragma once

#include "plan/plan.h"
#include "rungs/rungs.h"

namespace duogemm {

// The plan that runs one rung of the ladder on a problem of any size: operands that are not as the kernel
// wants them (padded, transposed, packed) are brought into that form around it. Throws invalid_argument when
// a matrix is too large for the rungs' 32-bit indices, and unsupported when only this rung's partial sums are,
// or when the device cannot run the kernel.
Plan plan_ladder(const Rung& rung, const Tunables& tunables, const Problem& problem,
                 const DeviceInfo& device);

}  // namespace duogemm
