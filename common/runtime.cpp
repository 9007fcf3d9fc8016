#include "runtime.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace duogemm {
namespace {

// Plans of this many different problems are kept; then all are forgotten and planned again as they come.
constexpr std::size_t most_plans = 1024;

auto key(const Problem& p) {
  // The bits of the scalars: a NaN is neither before nor behind anything.
  return std::tuple(p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.a_op, p.b_op, std::bit_cast<std::uint32_t>(p.alpha),
                    std::bit_cast<std::uint32_t>(p.beta), p.batch, p.batch_by, p.a_stride, p.b_stride,
                    p.c_stride, p.level, p.a_aligned, p.b_aligned, p.c_aligned);
}

}  // namespace

bool Runtime::Before::operator()(const Problem& a, const Problem& b) const { return key(a) < key(b); }

void Runtime::enqueue(const Problem& problem, Queue& queue, const PreparedPlan::Operands& operands,
                      const std::optional<LentWorkspace>& lent) {
  if (problem.is_empty()) {
    return;
  }
  workspaces_.enqueue(plan_for(placed(problem, operands)), queue, operands, lent);
}

std::size_t Runtime::workspace_bytes(const Problem& problem) const {
  const DeviceInfo& info = device_->info();
  std::size_t bytes = 0;
  for (int aligned = 0; aligned < 8; ++aligned) {  // where the matrices are is not known yet
    Problem placed = problem;
    placed.a_aligned = (aligned & 1) != 0;
    placed.b_aligned = (aligned & 2) != 0;
    placed.c_aligned = (aligned & 4) != 0;
    bytes = std::max(bytes, lay_out_workspaces(plan_sgemm(placed, info), info).bytes);
  }
  return bytes;
}

std::shared_ptr<const PreparedPlan> Runtime::plan_for(const Problem& problem) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = plans_.find(problem); found != plans_.end()) {
      return found->second;
    }
  }
  auto plan = std::make_shared<const PreparedPlan>(plan_sgemm(problem, device_->info()), *device_, programs_);
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= most_plans) {
    plans_.clear();
  }
  plans_.emplace(problem, plan);
  return plan;
}

}  // namespace duogemm
