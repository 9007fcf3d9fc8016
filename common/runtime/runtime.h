// A device in use: its compiled programs, the plans of recent calls and their workspaces. Everything that
// multiplies goes through here.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "plan/select.h"
#include "runtime/queue_workspaces.h"
#include "runtime/warm.h"

namespace duogemm {

class Runtime {
 public:
  // Plans of this many problems are kept, those that were used last.
  static constexpr std::size_t most_plans = 2048;

  explicit Runtime(std::unique_ptr<Device> device, DiskCache disk = DiskCache(cache_directory()))
      : device_(std::move(device)),
        planner_(planner_for(device_->info())),
        programs_(*device_, std::move(disk)),
        workspaces_(*device_) {}

  Device& device() { return *device_; }

  // Puts the multiplication on the queue, in FP32 where other arithmetic is permitted that the device, the
  // driver or the memory does not allow. Where there is no memory for workspace and none is lent, a plan
  // without any runs, whose sums may be added in another order. The first call that needs a program loads or
  // compiles it; a new problem is planned; once the same problem has been seen, with whatever factors,
  // neither happens, and once it has been seen on this queue, nothing is allocated on the device. Any thread
  // may call. Throws as PreparedPlan, QueueWorkspaces and require_right_results do.
  void enqueue(const Problem& problem, Queue& queue, const PreparedPlan::Operands& operands,
               const std::optional<LentWorkspace>& lent = {});

  // Does all of the first call with such a problem, whose matrices begin at multiples of 16 bytes, that needs
  // no matrices, and answers how many bytes of workspace it needs. Throws as PreparedPlan does.
  std::size_t prepare(const Problem& problem) { return plan_for(problem)->workspace_bytes(); }

  // Prepares all programs that the device may need, and multiplies once. Throws as duogemm::warm does (see
  // warm.h), and as enqueue does: unsupported where the driver is refused.
  WarmUp warm();
  // And the first workspace of a queue. Throws also as QueueWorkspaces::warm does. While the queue is
  // captured, it prepares programs alone.
  WarmUp warm(Queue& queue);

  // Throws unsupported, which names the driver, where the device gives wrong results. All that enqueues asks
  // it.
  void require_right_results();

  // Answers how many plans are kept.
  std::size_t plans();

  // Answers how many bytes of workspace `enqueue` needs at most, wherever the matrices begin.
  std::size_t workspace_bytes(const Problem& problem);

 private:
  struct Hash {
    std::size_t operator()(const Problem& problem) const;
  };
  struct Equal {
    bool operator()(const Problem& a, const Problem& b) const;
  };
  using Recent = std::list<std::pair<Problem, std::shared_ptr<const PreparedPlan>>>;

  void multiply_once();
  // The problem that asks for less after this one failed; nothing where there is none.
  std::optional<Problem> less_demanding(Problem problem, const Error& error, bool lent);
  void enqueue_placed(Problem problem, Queue& queue, const PreparedPlan::Operands& operands,
                      const std::optional<LentWorkspace>& lent);
  bool tensor_cores();
  const KernelSpec* working_tensor_kernel(const std::vector<const KernelSpec*>& possible);
  const Planner& planner_of(const Problem& problem);
  std::shared_ptr<const PreparedPlan> plan_for(const Problem& problem);
  std::shared_ptr<const PreparedPlan> find(const Problem& problem);
  void keep(const Problem& problem, const std::shared_ptr<const PreparedPlan>& plan);

  std::unique_ptr<Device> device_;
  const Planner& planner_;
  ProgramCache programs_;
  QueueWorkspaces workspaces_;
  std::once_flag results_known_;
  std::string refusal_;  // empty where results are right
  std::once_flag tensor_cores_known_;
  std::atomic<bool> tensor_cores_ = true;      // as far as is known
  std::optional<Planner> without_warpgroups_;  // where the device has them, and they do not work
  std::mutex mutex_;
  Recent recent_;  // the last used first
  std::unordered_map<Problem, Recent::iterator, Hash, Equal> plans_;
};

}  // namespace duogemm
