// A plan run once between guard bands, and what it made of the problem.
#pragma once

#include "check/judge.h"
#include "plan/lower.h"
#include "test_devices.h"

namespace duogemm::testing {

struct Checked {
  Verdict verdict;
  std::vector<float> c;  // as it is stored
};

inline Checked run_plan(const Plan& plan, const HostProblem& host, TestDevice& on) {
  const SelfContainedPlan prepared(plan, *on.device, *on.programs);
  const GuardedOperands guarded(host, *on.device, *on.queue);
  prepared.enqueue(*on.queue, guarded.operands());
  Checked found{Judge(host).look_at_all(guarded, *on.queue), std::vector<float>(host.c.size())};
  on.queue->read(*guarded.operands()[2].buffer, found.c.data(), sizeof(float) * found.c.size());
  return found;
}

inline Plan plan_of(const ScheduleRequest& request, const Problem& problem, const DeviceInfo& info) {
  return lower(schedule_for(request, problem, info), problem, info);
}

// The kernels of a plan's steps.
inline std::string steps_of(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    text += (text.empty() ? "" : " ") + step.kernel->spec->name;
  }
  return text;
}

}  // namespace duogemm::testing
