// In place of the library's planner, none of whose plans needs workspace yet: plans that do. Compiled into a
// test, it keeps the library's out.
#include "plan/plan.h"

// The library's own, by another name.
#define plan_sgemm library_plan
#include "../common/plan/lower.cpp"
#undef plan_sgemm

namespace duogemm {

// A single multiplication pads its operands wherever sizes are no multiples of 16; A, B and C begin where
// their buffers do. Anything else has 1000 bytes that it does not use.
Plan plan_sgemm(const Problem& problem, const Planner& planner) {
  if (problem.multiplies() && problem.batch == 1 && problem.batch_by == BatchBy::strides &&
      !problem.is_empty()) {
    const KernelSpec& spec = find_kernel("tiled");
    return plan_ladder(spec, settle(spec, {{"TS", 16}}), problem, planner.device());
  }
  Plan plan = library_plan(problem, planner);
  plan.workspace_bytes.push_back(1000);
  return plan;
}

Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  return plan_sgemm(problem, planner_for(device));
}

Plan plan_sgemm(const KernelSpec& spec, const Tunables& set, const Problem& problem,
                const DeviceInfo& device) {
  return library_plan(spec, set, problem, device);
}

}  // namespace duogemm
