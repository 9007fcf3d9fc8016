// From a schedule for tensor cores to a plan.
#pragma once

#include "plan/plan.h"
#include "plan/schedule.h"

namespace duogemm {

// The schedule's kernel splits operands.
Plan lower_on_tensor_cores(const Schedule& schedule, const Problem& problem, const DeviceInfo& device);

}  // namespace duogemm
