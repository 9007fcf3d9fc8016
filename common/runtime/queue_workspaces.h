// Memory for the workspaces of plans: a piece for each queue, whose commands run one after the other and can
// share it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/executor.h"

namespace duogemm {

// A caller lends for the workspaces of one call: `bytes` of `memory` from byte `begin` on. The memory may be
// null where none is needed.
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
  // queue. Throws out_of_memory, and invalid_argument when the memory lent does not do; then nothing is
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
  void provide(Kept& kept, const std::shared_ptr<const PreparedPlan>& plan);

  Device& device_;
  std::mutex captures_;  // held while a captured call's steps are launched
  std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Kept>> kept_;  // by the queues' handles
  std::uint64_t uses_ = 0;
};

}  // namespace duogemm
