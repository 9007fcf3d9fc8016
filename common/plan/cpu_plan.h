// Multiplications on CPUs, by kernels of which each work-group has a core to itself.
#pragma once

#include "plan/plan.h"
#include "plan/schedule.h"

namespace duogemm {

// What lower() does with the schedule of a kernel for CPUs.
Plan lower_on_cpu(const Schedule& schedule, const Problem& problem, const DeviceInfo& device);

}  // namespace duogemm
