#include "runtime/runtime.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "families/kernel_parts.h"
#include "families/kernel_source.h"
#include "families/tensor.h"
#include "plan/lower.h"
#include "plan/select.h"
#include "problem/precision.h"
#include "system/log.h"
#include "system/process.h"
#include "system/reject.h"

namespace duogemm {
namespace {

// Answers whether `multiply` computes C = A B of this many rows and columns, of small integers, whose product
// is exact in whatever order it is added up. It is given a queue, and where on the device A, B and C are.
bool gives_known_product(int size, Device& device,
                         const std::function<void(Queue&, const PreparedPlan::Operands&)>& multiply) {
  const auto at = [rows = static_cast<std::size_t>(size)](int row, int col) {
    return static_cast<std::size_t>(col) * rows + static_cast<std::size_t>(row);
  };
  std::vector<float> a(at(0, size)), b(a), c(a.size(), -1.0f), product(a.size(), 0.0f);
  for (int col = 0; col < size; ++col) {
    for (int row = 0; row < size; ++row) {
      a[at(row, col)] = static_cast<float>((3 * row + 5 * col) % 17 - 8);
      b[at(row, col)] = static_cast<float>((7 * row + 2 * col) % 13 - 6);
    }
  }
  for (int col = 0; col < size; ++col) {
    for (int k = 0; k < size; ++k) {
      for (int row = 0; row < size; ++row) {
        product[at(row, col)] += a[at(row, k)] * b[at(k, col)];
      }
    }
  }
  const std::size_t bytes = sizeof(float) * c.size();
  const auto device_a = device.allocate(bytes), device_b = device.allocate(bytes),
             device_c = device.allocate(bytes);
  const std::unique_ptr<Queue> queue = device.create_queue();  // gone before what it works on
  queue->write(*device_a, a.data(), bytes);
  queue->write(*device_b, b.data(), bytes);
  queue->write(*device_c, c.data(), bytes);
  multiply(*queue, {{{device_a.get()}, {device_b.get()}, {device_c.get()}}});
  queue->read(*device_c, c.data(), bytes);
  return c == product;
}

void require_fits(const LentWorkspace& lent, std::size_t needed, std::size_t alignment) {
  const std::string need = "the problem needs " + std::to_string(needed);
  if (lent.memory == nullptr) {
    if (needed > 0) {
      reject("workspace is null; " + need + " bytes");
    }
    return;
  }
  if (lent.begin % alignment != 0) {
    const std::size_t found = lent.begin & (~lent.begin + 1);  // the largest power of two in it
    reject("workspace is aligned to " + std::to_string(found) + " bytes; it must be aligned to " +
           std::to_string(alignment));
  }
  if (lent.bytes < needed) {
    reject("workspace has " + std::to_string(lent.bytes) + " bytes; " + need);
  }
  if (lent.begin > std::numeric_limits<std::size_t>::max() - needed) {
    reject("workspace begins at byte " + std::to_string(lent.begin) + "; " + need +
           ", which no memory has there");
  }
}

void launch(const PreparedPlan& plan, Queue& queue, const PreparedPlan::Operands& operands,
            const PreparedPlan::Workspaces& workspaces, const Scalars& scalars) {
  queue.barrier(false);  // the call before may work on the same memory
  plan.enqueue(queue, operands, workspaces, scalars);
}

// All that a plan depends on.
auto key(const Problem& p) {
  return std::tuple(p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batch, p.groups, p.a_stride, p.b_stride, p.c_stride,
                    p.a_op, p.b_op, p.batch_by, p.level, p.precision, p.alpha == 0.0f, p.beta == 0.0f,
                    p.owed_splits() > 1 && p.alpha == 1.0f, p.addend_apart, p.addend_ld, p.addend_stride,
                    p.bias, p.bias_stride, p.activation, p.device_scalars, p.no_workspace, p.a_aligned,
                    p.b_aligned, p.c_aligned, p.a_type, p.b_type, p.c_type, p.a_prepared, p.b_prepared);
}

std::string text_of(const Problem& p) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + " in " +
         to_text(p.precision);
}

}  // namespace

std::size_t roomy(std::size_t needed, const DeviceInfo& device) {
  constexpr std::size_t little = std::size_t{4} << 20;
  constexpr std::size_t much = std::size_t{256} << 20;
  const std::size_t share = std::bit_floor(device.memory_bytes / 2048);  // 32 MiB of 80 GB
  return needed >= much ? needed : std::bit_ceil(std::max({needed, little, std::min(share, much)}));
}

void QueueWorkspaces::Kept::replace(std::shared_ptr<Buffer> by) {
  plan.reset();
  workspaces.clear();
  memory = std::move(by);
}

void QueueWorkspaces::enqueue(const std::shared_ptr<const PreparedPlan>& plan, Queue& queue,
                              const PreparedPlan::Operands& operands, const Scalars& scalars,
                              const std::optional<LentWorkspace>& lent) {
  const std::size_t needed = plan->workspace_bytes();
  if (lent) {
    require_fits(*lent, needed, workspace_alignment(device_.info()));
  }
  if (needed == 0) {
    plan->enqueue(queue, operands, {}, scalars);
    return;
  }
  const QueueState state = queue.state();
  if (state.capturing) {
    const std::lock_guard lock(captures_);
    const std::unique_ptr<Buffer> of_graph = lent ? nullptr : queue.graph_memory(needed);
    launch(*plan, queue, operands,
           lent ? plan->workspaces_in(*lent->memory, lent->begin) : plan->workspaces_in(*of_graph, 0),
           scalars);
    return;
  }
  const std::shared_ptr<Kept> kept = kept_for(state);
  const std::lock_guard lock(kept->mutex);
  if (lent) {
    launch(*plan, queue, operands, plan->workspaces_in(*lent->memory, lent->begin), scalars);
    return;
  }
  if (!kept->memory || kept->memory->bytes() < needed) {
    kept->replace(device_.allocate(roomy(needed, device_.info())));  // without memory, all stays as it was
  }
  if (kept->plan != plan) {
    kept->workspaces = plan->workspaces_in(*kept->memory, 0);
    kept->plan = plan;
  }
  try {
    launch(*plan, queue, operands, kept->workspaces, scalars);
  } catch (...) {
    // The memory may be the reason: OpenCL may find out that there is none when it is first used.
    kept->replace(nullptr);
    throw;
  }
}

void QueueWorkspaces::warm(Queue& queue) {
  const QueueState state = queue.state();
  if (state.capturing) {
    return;
  }
  const std::shared_ptr<Kept> kept = kept_for(state);
  const std::lock_guard lock(kept->mutex);
  if (!kept->memory) {
    std::shared_ptr<Buffer> memory = device_.allocate(roomy(0, device_.info()));
    const float first = 0.0f;
    device_.create_queue()->write(*memory, &first, sizeof first);  // when OpenCL may allocate it
    kept->replace(std::move(memory));
  }
}

std::shared_ptr<QueueWorkspaces::Kept> QueueWorkspaces::kept_for(const QueueState& queue) {
  // Outlives the lock: freeing memory may take as long as the device works on it.
  std::vector<std::shared_ptr<Kept>> given_up;
  const std::lock_guard lock(mutex_);
  auto found = kept_.find(queue.handle);
  if (found != kept_.end() && queue.serial && found->second->serial != queue.serial) {
    given_up.push_back(std::move(found->second));
    kept_.erase(found);
    found = kept_.end();
  }
  if (found == kept_.end()) {
    give_up_oldest(given_up);
    found = kept_.emplace(queue.handle, std::make_shared<Kept>()).first;
    found->second->serial = queue.serial;
  }
  found->second->last_use = ++uses_;
  return found->second;
}

// Makes room for one more. There are more than most_queues while calls are at work with all of them.
void QueueWorkspaces::give_up_oldest(std::vector<std::shared_ptr<Kept>>& given_up) {
  while (kept_.size() >= most_queues) {
    auto oldest = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      const bool idle = it->second.use_count() == 1;  // nobody gets hold of it meanwhile: the mutex is ours
      if (idle && (oldest == kept_.end() || it->second->last_use < oldest->second->last_use)) {
        oldest = it;
      }
    }
    if (oldest == kept_.end()) {
      return;
    }
    given_up.push_back(std::move(oldest->second));
    kept_.erase(oldest);
  }
}

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

std::shared_ptr<const PreparedPlan> Runtime::enqueue(const Problem& problem, Queue& queue,
                                                     const PreparedPlan::Operands& operands,
                                                     const std::optional<LentWorkspace>& lent) {
  if (problem.is_empty()) {
    return nullptr;
  }
  require_right_results();
  Problem attempt = placed(problem, operands);
  if (attempt.precision != Precision::fp32 && !tensor_cores()) {
    attempt.precision = Precision::fp32;
  }
  return enqueue_placed(attempt, queue, operands, lent);
}

void Runtime::enqueue_preparation(const Problem& problem, Queue& queue,
                                  const PreparedPlan::Operands& operands) {
  require_tensor_cores();
  PreparedPlan(plan_preparation(problem, device_->info()), *device_, programs_)
      .enqueue(queue, operands, {}, {});
}

std::size_t Runtime::prepared_bytes(const Problem& problem) {
  require_tensor_cores();
  require_tensor_kernels(device_->info());
  return duogemm::prepared_bytes(problem);
}

std::shared_ptr<const PreparedPlan> Runtime::enqueue_placed(Problem problem, Queue& queue,
                                                            const PreparedPlan::Operands& operands,
                                                            const std::optional<LentWorkspace>& lent) {
  for (;;) {
    try {
      std::shared_ptr<const PreparedPlan> plan = plan_for(problem);
      workspaces_.enqueue(plan, queue, operands, {problem.alpha, problem.beta}, lent);
      return plan;
    } catch (const Error& error) {
      if (!asks_for_less(problem, error, lent.has_value())) {
        throw;
      }
    }
  }
}

// Only the compiler and the driver tell that a program does not compile here, or that memory is exhausted.
bool Runtime::asks_for_less(Problem& problem, const Error& error, bool lent) {
  const bool lacks_memory = error.status() == Status::out_of_memory;
  const bool lacks_program = error.status() == Status::build_failed || error.status() == Status::unsupported;
  if (problem.owes_terms() && lacks_memory) {
    return false;  // FP32 has other bits
  }
  if (problem.precision != Precision::fp32 && (lacks_memory || lacks_program)) {
    log_line(std::string("in FP32, because of ") + error.what());
    tensor_cores_ = lacks_memory;
    problem.precision = Precision::fp32;
    return true;
  }
  if (lacks_memory && !lent && !problem.no_workspace) {
    log_line(std::string("without workspace, because of ") + error.what());
    problem.no_workspace = true;
    return true;
  }
  return false;
}

WarmUp Runtime::warm() {
  const WarmUp prepared = duogemm::warm(*device_, programs_);
  // A driver's first launch takes it longer than those that follow, whether programs have been loaded or not.
  const auto alone_on_device = device_->exclusive_use();
  const Problem problem = Problem::packed(32, 32, 32);
  const auto queue = device_->create_queue();
  const BlankOperands operands(problem, *device_);
  enqueue(problem, *queue, operands.places());
  queue->finish();
  return prepared;
}

WarmUp Runtime::warm(Queue& queue) {
  if (queue.state().capturing) {
    return duogemm::warm(*device_, programs_);
  }
  const WarmUp programs = warm();
  workspaces_.warm(queue);
  return programs;
}

// Kernels that are not the library's own may do as they like.
void Runtime::require_right_results() {
  std::call_once(results_known_, [&] {
    constexpr int size = 200;  // no multiple of tiles
    if (!kernel_directory()) {
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
  constexpr int size = 128;
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

void Runtime::require_tensor_cores() {
  require_right_results();
  if (!tensor_cores()) {
    throw Error(Status::unsupported,
                "tensor cores, which an operand is prepared for, that work with this driver");
  }
}

const Planner& Runtime::planner_of(const Problem& problem) {
  return problem.precision != Precision::fp32 && tensor_cores() && without_warpgroups_ ? *without_warpgroups_
                                                                                       : *planner_;
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

// Where a kernel's work-groups turn out to be too large, this and all later problems are planned as for a
// device that has smaller ones.
std::shared_ptr<const PreparedPlan> Runtime::new_plan(const Problem& problem) {
  for (;;) {
    const Planner& planner = planner_of(problem);
    try {
      Plan steps = plan_sgemm(problem, planner);
      if (log_is_wanted()) {
        log_line(text_of(problem) + " runs " + describe(steps));
      }
      return std::make_shared<const PreparedPlan>(std::move(steps), *device_, programs_);
    } catch (const WorkGroupTooLarge& error) {
      DeviceInfo less = planner.device();
      const bool for_tensor_cores = without_warpgroups_ && &planner == &*without_warpgroups_;
      if (error.most >= less.max_work_group || for_tensor_cores) {
        throw;
      }
      log_line(std::string("smaller work-groups, because the device has ") + error.what());
      less.max_work_group = error.most;
      const std::lock_guard lock(mutex_);
      if (error.most < planner_.load()->device().max_work_group) {
        planner_ = &planner_for(less);
      }
    }
  }
}

std::shared_ptr<const PreparedPlan> Runtime::plan_for(const Problem& problem) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = plans_.find(problem); found != plans_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->second;
    }
  }
  const bool has_driver = device_->info().programs == nullptr;
  const auto no_forks = has_driver ? std::unique_lock<std::mutex>() : hold_off_forks();
  auto plan = new_plan(problem);
  const std::lock_guard lock(mutex_);
  recent_.emplace_front(problem, plan);
  if (!plans_.emplace(problem, recent_.begin()).second) {  // another thread was faster
    recent_.pop_front();
  } else if (recent_.size() > most_plans) {
    plans_.erase(recent_.back().first);
    recent_.pop_back();
  }
  return plan;
}

}  // namespace duogemm
