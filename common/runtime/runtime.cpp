#include "runtime/runtime.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "families/kernel_source.h"
#include "families/storage.h"
#include "families/tensor.h"
#include "plan/analytic.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "runtime/known_product.h"
#include "system/log.h"
#include "system/process.h"

namespace duogemm {
namespace {

// All that a plan depends on.
auto key(const Problem& p) {
  return std::tuple(p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batch, p.a_stride, p.b_stride, p.c_stride, p.a_op,
                    p.b_op, p.batch_by, p.level, p.precision, p.alpha == 0.0f, p.beta == 0.0f, p.addend_apart,
                    p.addend_ld, p.addend_stride, p.bias, p.bias_stride, p.activation, p.device_scalars,
                    p.no_workspace, p.a_aligned, p.b_aligned, p.c_aligned);
}

std::string text_of(const Problem& p) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + " in " +
         to_text(p.precision);
}

}  // namespace

// FNV-1a over whole members, mixed at the end.
std::size_t Runtime::Hash::operator()(const Problem& problem) const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  std::apply(
      [&](const auto&... member) {
        ((hash = (hash ^ static_cast<std::uint64_t>(member)) * 0x100000001b3u), ...);
      },
      key(problem));
  return hash ^ hash >> 29;
}

bool Runtime::Equal::operator()(const Problem& a, const Problem& b) const { return key(a) == key(b); }

void Runtime::enqueue(const Problem& problem, Queue& queue, const PreparedPlan::Operands& operands,
                      const std::optional<LentWorkspace>& lent) {
  if (problem.is_empty()) {
    return;
  }
  require_right_results();
  Problem attempt = placed(problem, operands);
  if (attempt.precision != Precision::fp32 && !tensor_cores()) {
    attempt.precision = Precision::fp32;
  }
  enqueue_placed(attempt, queue, operands, lent);
}

void Runtime::enqueue_placed(Problem problem, Queue& queue, const PreparedPlan::Operands& operands,
                             const std::optional<LentWorkspace>& lent) {
  for (;;) {
    try {
      workspaces_.enqueue(plan_for(problem), queue, operands, {problem.alpha, problem.beta}, lent);
      return;
    } catch (const Error& error) {
      const std::optional<Problem> next = less_demanding(problem, error, lent.has_value());
      if (!next) {
        throw;
      }
      problem = *next;
    }
  }
}

// Only the compiler and the driver tell that a program does not compile here, or that memory is exhausted.
std::optional<Problem> Runtime::less_demanding(Problem problem, const Error& error, bool lent) {
  const bool lacks_memory = error.status() == Status::out_of_memory;
  const bool lacks_program = error.status() == Status::build_failed || error.status() == Status::unsupported;
  if (problem.precision != Precision::fp32 && (lacks_memory || lacks_program)) {
    log_line(std::string("in FP32, because of ") + error.what());
    tensor_cores_ = lacks_memory;
    problem.precision = Precision::fp32;
    return problem;
  }
  if (lacks_memory && !lent && !problem.no_workspace) {
    log_line(std::string("without workspace, because of ") + error.what());
    problem.no_workspace = true;
    return problem;
  }
  return std::nullopt;
}

WarmUp Runtime::warm() {
  const WarmUp programs = duogemm::warm(*device_, programs_);
  multiply_once();
  return programs;
}

WarmUp Runtime::warm(Queue& queue) {
  if (queue.state().capturing) {
    return duogemm::warm(*device_, programs_);
  }
  const WarmUp programs = warm();
  workspaces_.warm(queue);
  return programs;
}

// A driver's first launch takes it longer than those that follow, whether programs have been loaded or not.
void Runtime::multiply_once() {
  const auto alone_on_device = device_->exclusive_use();
  const Problem problem = Problem::packed(32, 32, 32);
  const auto queue = device_->create_queue();
  const BlankOperands operands(problem, *device_);
  enqueue(problem, *queue, operands.places());
  queue->finish();
}

// Kernels that are not the library's own may do as they like.
void Runtime::require_right_results() {
  std::call_once(results_known_, [&] {
    constexpr std::int64_t size = 200;  // no multiple of tiles
    if (kernels_are_embedded()) {
      refusal_ = device_->refusal(
          {device_->info().name, false, [&] {
             return gives_known_product(size, *device_, [&](Queue& queue, const auto& operands) {
               enqueue_placed(Problem::packed(size, size, size), queue, operands, {});
             });
           }});
    }
  });
  if (!refusal_.empty()) {
    throw Error(Status::unsupported, refusal_);
  }
}

// The first of the kernels whose product is right on this device; null where none's is.
const KernelSpec* Runtime::working_tensor_kernel(const std::vector<const KernelSpec*>& possible) {
  constexpr std::int64_t size = 128;
  Problem problem = Problem::packed(size, size, size);
  problem.precision = Precision::f16x3;
  const DeviceInfo& info = device_->info();
  for (const KernelSpec* spec : possible) {
    const auto is_right = [&] {
      const Plan plan = lower(schedule_for({spec}, problem, info), problem, info);
      const SelfContainedPlan prepared(plan, *device_, programs_);
      return gives_known_product(
          size, *device_, [&](Queue& queue, const auto& operands) { prepared.enqueue(queue, operands); });
    };
    if (device_->refusal({"kernel " + spec->name, true, is_right}).empty()) {
      return spec;
    }
  }
  return nullptr;
}

bool Runtime::tensor_cores() {
  std::call_once(tensor_cores_known_, [&] {
    const std::vector<const KernelSpec*> possible = tensor_kernels_for(device_->info());
    const KernelSpec* works = working_tensor_kernel(possible);
    // Without any, plans are in FP32 of themselves.
    tensor_cores_ = works != nullptr || possible.empty();
    if (works != nullptr && works != possible.front()) {
      without_warpgroups_.emplace(device_->info(), tuning_without(*possible.front(), device_->info()));
    }
  });
  return tensor_cores_;
}

const Planner& Runtime::planner_of(const Problem& problem) {
  return problem.precision != Precision::fp32 && tensor_cores() && without_warpgroups_ ? *without_warpgroups_
                                                                                       : planner_;
}

std::size_t Runtime::plans() {
  const std::lock_guard lock(mutex_);
  return recent_.size();
}

std::size_t Runtime::workspace_bytes(const Problem& problem) {
  // It is not known yet where the matrices are. That matters where A or B can be read in vectors.
  const auto alignments = [](bool vectors) {
    return vectors ? std::vector{true, false} : std::vector{false};
  };
  std::size_t bytes = 0;
  for (const bool a_aligned : alignments(in_vectors(true, problem.lda, problem.a_stride, problem))) {
    for (const bool b_aligned : alignments(in_vectors(true, problem.ldb, problem.b_stride, problem))) {
      Problem placed = problem;
      placed.a_aligned = a_aligned;
      placed.b_aligned = b_aligned;
      bytes =
          std::max(bytes, lay_out_workspaces(plan_sgemm(placed, planner_of(problem)), device_->info()).bytes);
    }
  }
  return bytes;
}

std::shared_ptr<const PreparedPlan> Runtime::plan_for(const Problem& problem) {
  if (auto found = find(problem)) {
    return found;
  }
  const bool has_driver = device_->info().programs == nullptr;
  const auto no_forks = has_driver ? std::unique_lock<std::mutex>() : hold_off_forks();
  Plan steps = plan_sgemm(problem, planner_of(problem));
  if (log_is_wanted()) {
    log_line(text_of(problem) + " runs " + describe(steps));
  }
  auto plan = std::make_shared<const PreparedPlan>(std::move(steps), *device_, programs_);
  keep(problem, plan);
  return plan;
}

std::shared_ptr<const PreparedPlan> Runtime::find(const Problem& problem) {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(problem);
  if (found == plans_.end()) {
    return nullptr;
  }
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->second;
}

void Runtime::keep(const Problem& problem, const std::shared_ptr<const PreparedPlan>& plan) {
  const std::lock_guard lock(mutex_);
  recent_.emplace_front(problem, plan);
  if (!plans_.emplace(problem, recent_.begin()).second) {  // another thread was faster
    recent_.pop_front();
    return;
  }
  if (recent_.size() > most_plans) {
    plans_.erase(recent_.back().first);
    recent_.pop_back();
  }
}

}  // namespace duogemm
