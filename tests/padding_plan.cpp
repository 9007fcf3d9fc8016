// In place of the library's planner, none of whose plans needs workspace yet: plans that do. Compiled into a
// test, it keeps the library's out.
#include "plan.h"

// The library's own, by another name.
#define plan_sgemm library_plan
#include "../common/sgemm_plan.cpp"
#undef plan_sgemm

namespace duogemm {

// A single multiplication pads its operands wherever sizes are no multiples of 16; A, B and C begin where
// their buffers do. Anything else has 1000 bytes that it does not use.
Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  if (problem.multiplies() && problem.batch == 1 && problem.batch_by == BatchBy::strides &&
      !problem.is_empty()) {
    const KernelSpec& spec = find_kernel("tiled");
    return plan_ladder(spec, settle(spec, {{"TS", 16}}), problem, device);
  }
  Plan plan = library_plan(problem, device);
  plan.workspace_bytes.push_back(1000);
  return plan;
}

}  // namespace duogemm
