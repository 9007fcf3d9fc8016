// From a schedule to a plan.
#pragma once

#include "families/plan.h"
#include "plan/select.h"

namespace duogemm {

// The steps that carry a schedule out. Throws unsupported where the device allows fewer work-groups.
Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device);

// Every program that a plan for any problem may consist of, each once, as far as that can be told before
// problems come (see Planner::kernels).
std::vector<const Variant*> programs_of(const Planner& planner);

// The plan for any problem whatever, with the kernels of kernels/gemm/. Empty when C stays as it is. The
// offsets of the operands are those of the call. Throws as lower() does.
Plan plan_sgemm(const Problem& problem, const Planner& planner);
Plan plan_sgemm(const Problem& problem, const DeviceInfo& device);

// The same with one kernel that computes the problem, which is not empty, and with these tunables, but for
// those that the problem fixes. Throws as schedule_for() does.
Plan plan_sgemm(const KernelSpec& spec, const Tunables& set, const Problem& problem,
                const DeviceInfo& device);

}  // namespace duogemm
