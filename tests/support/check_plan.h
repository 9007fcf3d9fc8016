// A plan run once between guard bands, and the judgement of what it made of the problem.
#pragma once

#include "check/judge.h"
#include "ladder/ladder.h"
#include "plan/lower.h"
#include "test_devices.h"

namespace duogemm::testing {

inline Verdict check_plan(const Plan& plan, const HostProblem& host, const Judge& judge, Device& device,
                          Queue& queue, ProgramCache& programs) {
  const SelfContainedPlan prepared(plan, device, programs);
  const GuardedOperands guarded(host, device, queue);
  prepared.enqueue(queue, guarded.operands());
  return judge.look_at_all(guarded, queue);
}

inline Verdict check_plan(const Plan& plan, const HostProblem& host, TestDevice& on) {
  return check_plan(plan, host, Judge(host), *on.device, *on.queue, *on.programs);
}

inline Plan plan_of(const ScheduleRequest& request, const Problem& problem, const DeviceInfo& info) {
  return lower(schedule_for(request, problem, info), problem, info);
}

}  // namespace duogemm::testing
