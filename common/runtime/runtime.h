// A device in use: its compiled programs, the plans of recent calls and their workspaces. Everything that
// multiplies goes through here.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plan/select.h"
#include "runtime/executor.h"

namespace duogemm {

// --- Programs are prepared before somebody waits for them
// ---------------------------------------------------

// A program, and perhaps a problem that runs it: a driver may compile a kernel when it is first launched.
struct Preparation {
  const Variant* program;
  std::optional<Problem> example;
};

// Lists each program that a device may need: those of the measurements that apply to it, and those of common
// problems, without what the device cannot run.
std::vector<Preparation> preparations_for(const DeviceInfo& device);

// A share of them is every `of`-th, from the one of number `first` on.
struct Share {
  std::size_t first = 0;
  std::size_t of = 1;
};

// Prepares them, concurrently where the compiler does that. All are tried; then this throws what the first
// that failed did, with the program's name.
WarmUp warm(Device& device, ProgramCache& programs, const Share& share = {});

// A caller lends a call `bytes` of `memory` from byte `begin` on. The memory may be null where none is
// needed.
struct LentWorkspace {
  const Buffer* memory = nullptr;
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

// Answers how much to allocate where memory that is kept must grow to `needed` bytes. Memory is given back
// only when the device is idle, so problems that grow from call to call must not make it grow each time.
std::size_t roomy(std::size_t needed, const DeviceInfo& device);

class QueueWorkspaces {
 public:
  // Nobody says when a queue is gone: the memory of those used last is kept.
  static constexpr std::size_t most_queues = 64;

  explicit QueueWorkspaces(Device& device) : device_(device) {}

  // Launches the plan, in the memory lent or else in the queue's own, which grows when it is too small, or in
  // the graph's while the queue is captured. Any thread may call: the steps of one call stand together on the
  // queue. Throws out_of_memory, and invalid_argument when the memory lent does not do, before anything is
  // launched.
  void enqueue(const std::shared_ptr<const PreparedPlan>& plan, Queue& queue,
               const PreparedPlan::Operands& operands, const Scalars& scalars,
               const std::optional<LentWorkspace>& lent);

  // Allocates what the queue's first call that needs memory would, unless the queue has some or is being
  // captured. Nothing is put on it. Throws out_of_memory.
  void warm(Queue& queue);

 private:
  struct Kept {
    void replace(std::shared_ptr<Buffer> by);

    std::optional<std::uint64_t> serial;  // of the queue
    std::uint64_t last_use = 0;           // this and the serial belong to the map and its mutex

    std::mutex mutex;                // of what follows; held while a call's steps are launched
    std::shared_ptr<Buffer> memory;  // null before the first use
    std::shared_ptr<const PreparedPlan> plan;
    PreparedPlan::Workspaces workspaces;  // of this plan in this memory
  };
  std::shared_ptr<Kept> kept_for(const QueueState& queue);
  void give_up_oldest(std::vector<std::shared_ptr<Kept>>& given_up);

  Device& device_;
  std::mutex captures_;  // held while a captured call's steps are launched
  std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Kept>> kept_;  // by the queues' handles
  std::uint64_t uses_ = 0;
};

class Runtime {
 public:
  // Plans of this many problems are kept, those that were used last.
  static constexpr std::size_t most_plans = 2048;

  explicit Runtime(std::unique_ptr<Device> device, DiskCache disk = DiskCache(cache_directory()))
      : device_(std::move(device)),
        planner_(&planner_for(device_->info())),
        programs_(*device_, std::move(disk)),
        workspaces_(*device_) {}

  Device& device() { return *device_; }
  const Device& device() const { return *device_; }

  // Puts the multiplication on the queue, in FP32 where other arithmetic is permitted that the device, the
  // driver or the memory does not allow. Where there is no memory for workspace and none is lent, a plan
  // without any runs, whose sums may be added in another order. The first call that needs a program loads or
  // compiles it; a new problem is planned; once the same problem has been seen, with whatever factors,
  // neither happens, and once it has been seen on this queue, nothing is allocated on the device. Any thread
  // may call. Answers the plan; null where there is nothing to do. Throws as PreparedPlan, QueueWorkspaces
  // and require_right_results do.
  std::shared_ptr<const PreparedPlan> enqueue(const Problem& problem, Queue& queue,
                                              const PreparedPlan::Operands& operands,
                                              const std::optional<LentWorkspace>& lent = {});

  // Puts the split of the operand that the problem has prepared on the queue (families/tensor.h); it is
  // aligned as a workspace is. Throws as plan_preparation() does, and unsupported where tensor cores do not
  // work.
  void enqueue_preparation(const Problem& problem, Queue& queue, const PreparedPlan::Operands& operands);
  std::size_t prepared_bytes(const Problem& problem);

  // Does all of the first call with such a problem, whose matrices begin at multiples of 16 bytes, that needs
  // no matrices, and answers how many bytes of workspace it needs. Throws as PreparedPlan does.
  std::size_t prepare(const Problem& problem) { return plan_for(problem)->workspace_bytes(); }

  // Prepares all programs that the device may need, and multiplies once. Throws as duogemm::warm does, and as
  // enqueue does: unsupported where the driver is refused.
  WarmUp warm();
  // And the first workspace of a queue. Throws also as QueueWorkspaces::warm does. While the queue is
  // captured, it prepares programs alone.
  WarmUp warm(Queue& queue);

  // Throws unsupported, which names the driver, where the device gives wrong results.
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

  // Has a problem that failed ask for less; false where it cannot.
  bool asks_for_less(Problem& problem, const Error& error, bool lent);
  std::shared_ptr<const PreparedPlan> enqueue_placed(Problem problem, Queue& queue,
                                                     const PreparedPlan::Operands& operands,
                                                     const std::optional<LentWorkspace>& lent);
  bool tensor_cores();
  void require_tensor_cores();
  const KernelSpec* working_tensor_kernel(const std::vector<const KernelSpec*>& possible);
  const Planner& planner_of(const Problem& problem);
  std::shared_ptr<const PreparedPlan> plan_for(const Problem& problem);
  std::shared_ptr<const PreparedPlan> new_plan(const Problem& problem);

  std::unique_ptr<Device> device_;
  std::atomic<const Planner*> planner_;
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
