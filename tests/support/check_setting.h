// A setting of the ladder on a problem, and the judgement of what it made of it.
#pragma once

#include "check/judge.h"
#include "ladder/ladder.h"
#include "runtime/executor.h"

namespace duogemm::testing {

// Plans the setting, runs it once between guard bands and judges.
inline Verdict check_setting(const LadderSetting& setting, const HostProblem& host, const Judge& judge,
                             Device& device, Queue& queue, ProgramCache& programs) {
  const Plan plan = plan_setting(setting, host.problem, device.info());
  const SelfContainedPlan prepared(plan, device, programs);
  const GuardedOperands guarded(host, device, queue);
  prepared.enqueue(queue, guarded.operands());
  return judge.look_at_all(guarded, queue);
}

}  // namespace duogemm::testing
