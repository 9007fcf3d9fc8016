// A plan whose steps need memory of their own.
#pragma once

#include "plan/lower.h"

namespace duogemm::testing {

// Three steps and as many workspaces: A and B are copied, both splits of k multiplied, and the partial sums
// added up. Where k fits into one tile there is nothing to add up, and so one step and one workspace fewer.
inline Plan workspace_plan(const Problem& problem, const DeviceInfo& device) {
  const ScheduleRequest request{
      .spec = &find_kernel("pipelined"), .splits = 2, .pack_a = true, .pack_b = true};
  return lower(schedule_for(request, problem, device), problem, device);
}

}  // namespace duogemm::testing
