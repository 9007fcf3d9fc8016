#include "tune/edge_check.h"

#include "plan/lower.h"
#include "tune/calibration.h"

namespace duogemm::bench {
namespace {

constexpr std::int64_t several_slices = 3;

// Numbers of very different size are not for tensor cores: another kernel computes what they leave out.
Distribution distribution_for(const Problem& problem) {
  return problem.precision == Precision::fp32 ? Distribution::wide_range : Distribution::signed_unit;
}

}  // namespace

EdgeCheck::Edge::Edge(const Problem& problem, Device& device, Queue& queue)
    : host(random_problem(problem, distribution_for(problem), 1)),
      judge(host),
      operands(host, device, queue) {}

EdgeCheck::EdgeCheck(const OperandKind& kind, Device& device, Queue& queue, ProgramCache& programs)
    : device_(device), queue_(queue), programs_(programs) {
  for (const Problem& problem : edge_problems(kind)) {
    edges_.push_back(std::make_unique<Edge>(problem, device, queue));
  }
}

std::string EdgeCheck::fault(const KernelSpec& spec, const Tunables& tunables) {
  for (const std::unique_ptr<Edge>& edge : edges_) {
    if (std::string found = fault(*edge, {&spec, tunables, {}}, 1); !found.empty()) {
      return found;
    }
  }
  return spec.family->splits_k() ? fault(*edges_.front(), {&spec, tunables, {}}, several_slices) : "";
}

// Sums in another order are right within the bound; others to the bit.
std::string EdgeCheck::fault(Edge& edge, const Calibration& setting, std::int64_t splits) {
  const Problem& p = edge.host.problem;
  const auto schedule = schedule_of(setting, splits, p, device_.info());
  if (!schedule) {
    return "";
  }
  const SelfContainedPlan prepared(lower(*schedule, p, device_.info()), device_, programs_);
  edge.operands.restore_c(queue_);
  prepared.enqueue(queue_, edge.operands.operands());
  const Verdict found = edge.judge.look_at_all(edge.operands, queue_);
  if (found.ok() && (splits > 1 || schedule->kernel->reorders || found.same_bits())) {
    return "";
  }
  return "M=" + std::to_string(p.m) + " N=" + std::to_string(p.n) + " K=" + std::to_string(p.k) + " in " +
         std::to_string(splits) + " slices of k: " + found.fault();
}

}  // namespace duogemm::bench
