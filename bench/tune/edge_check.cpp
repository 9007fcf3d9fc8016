#include "tune/edge_check.h"

#include "tune/calibration.h"

namespace duogemm::bench {
namespace {

constexpr std::int64_t split = 3;

// Numbers of very different size are not for tensor cores: another kernel computes what they leave out.
Distribution distribution_for(const Problem& problem) {
  return problem.precision == Precision::fp32 ? Distribution::wide_range : Distribution::signed_unit;
}

}  // namespace

EdgeCheck::Case::Case(const Problem& problem, Device& device, Queue& queue)
    : host(random_problem(problem, distribution_for(problem), 1)),
      judge(host),
      operands(host, device, queue) {}

EdgeCheck::EdgeCheck(const OperandKind& kind, Device& device, Queue& queue, ProgramCache& programs)
    : device_(device), queue_(queue), programs_(programs) {
  for (const Problem& problem : edge_problems(kind)) {
    cases_.push_back(std::make_unique<Case>(problem, device, queue));
  }
}

std::string EdgeCheck::fault(const KernelSpec& spec, const Tunables& tunables) {
  for (const std::unique_ptr<Case>& edge : cases_) {
    if (std::string found = fault(*edge, spec, tunables, 1); !found.empty()) {
      return found;
    }
  }
  return spec.gemm->splits_k ? fault(*cases_.front(), spec, tunables, split) : "";
}

// Sums in another order are right within the bound; others to the bit.
std::string EdgeCheck::fault(Case& edge, const KernelSpec& spec, const Tunables& tunables,
                             std::int64_t parts) {
  const Problem& p = edge.host.problem;
  const std::optional<Plan> plan = plan_of(spec, tunables, parts, p, device_.info());
  if (!plan) {
    return "";
  }
  const SelfContainedPlan prepared(*plan, device_, programs_);
  edge.operands.restore_c(queue_);
  prepared.enqueue(queue_, edge.operands.operands());
  const Verdict found = edge.judge.look_at_all(edge.operands, queue_);
  if (found.ok() && (parts > 1 || spec.gemm->reorders(tunables) || found.same_bits())) {
    return "";
  }
  return "M=" + std::to_string(p.m) + " N=" + std::to_string(p.n) + " K=" + std::to_string(p.k) + " in " +
         std::to_string(parts) + " parts: " + found.fault();
}

}  // namespace duogemm::bench
