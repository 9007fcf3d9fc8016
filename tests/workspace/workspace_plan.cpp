// In place of the library's planner: plans that need workspace whatever the device. Compiled into a test, it
// keeps the library's out.
#include "workspace_plan.h"

// The library's own, by another name.
#define plan_sgemm library_plan
#include "../common/plan/lower.cpp"  // NOLINT(bugprone-suspicious-include)
#undef plan_sgemm

namespace duogemm {

// A single multiplication needs workspace wherever sizes are no multiples of 16. A batch has 1000 bytes that
// it does not use.
Plan plan_sgemm(const Problem& problem, const Planner& planner) {
  if (problem.multiplies() && problem.batch == 1 && problem.batch_by == BatchBy::strides &&
      !problem.is_empty()) {
    const bool needs_none = problem.m % 16 == 0 && problem.n % 16 == 0 && problem.k % 16 == 0;
    return needs_none ? library_plan(find_kernel("general"), {}, problem, planner.device())
                      : testing::workspace_plan(problem, planner.device());
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
