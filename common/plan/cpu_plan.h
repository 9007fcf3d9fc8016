// Multiplications on CPUs, by kernels of which each work-group has a core to itself.
#pragma once

#include "plan/plan.h"
#include "plan/schedule.h"

namespace duogemm {

// The kernel and its blocks for a problem that multiplies.
ScheduleRequest choose_on_cpu(const Problem& problem, const DeviceInfo& device);

// The request's tunables as far as they fit the problem, with those that it fixes. Throws as resolve_for().
const Variant& cpu_variant(const ScheduleRequest& request, const Problem& problem);

// What lower() does with the schedule of a kernel for CPUs.
Plan lower_on_cpu(const Schedule& schedule, const Problem& problem, const DeviceInfo& device);

}  // namespace duogemm
