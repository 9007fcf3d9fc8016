#include "runtime/queue_workspaces.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "system/reject.h"

namespace duogemm {
namespace {

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
  provide(*kept, plan);
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

void QueueWorkspaces::provide(Kept& kept, const std::shared_ptr<const PreparedPlan>& plan) {
  const std::size_t present = kept.memory ? kept.memory->bytes() : 0;
  const std::size_t needed = plan->workspace_bytes();
  if (present < needed) {
    kept.replace(
        device_.allocate(roomy(needed, device_.info())));  // when there is no memory, all stays as it was
  }
  if (kept.plan != plan) {
    kept.workspaces = plan->workspaces_in(*kept.memory, 0);
    kept.plan = plan;
  }
}

}  // namespace duogemm
