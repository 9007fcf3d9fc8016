// Multiplications on CPUs, by kernels of which each work-group has a core to itself.
#pragma once

#include "planner.h"

namespace duogemm {

// The kernel and its blocks for a problem that multiplies.
Choice choose_on_cpu(const Problem& problem, const DeviceInfo& device);

// The same problem, where a vector that is stored without gaps is stored along k.
Problem vectors_along_k(Problem p);

// What carry_out() does with the choice of a kernel for CPUs.
Plan plan_on_cpu(const Choice& choice, const Problem& problem, const DeviceInfo& device);

}  // namespace duogemm
