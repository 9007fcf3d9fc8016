#include "timing/cold_caches.h"

#include <algorithm>
#include <vector>

#include "plan/lower.h"
#include "runtime/executor.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

// A CPU's caches are the host's: the host writes.
std::function<void()> writing_on_host(std::size_t bytes) {
  const auto data = std::make_shared<std::vector<float>>(bytes / sizeof(float));
  return [data, value = 0.0f]() mutable { std::fill(data->begin(), data->end(), value += 1.0f); };
}

// The device writes as much, or a little less: C <- 0.
std::function<void()> writing_on_device(std::size_t bytes, Device& device, Queue& queue) {
  constexpr std::int64_t rows = 4096;
  const Problem problem =
      Problem::packed(rows, static_cast<std::int64_t>(bytes / sizeof(float)) / rows, 1, 0.0f);
  ProgramCache programs(device);
  const auto plan = std::make_shared<SelfContainedPlan>(plan_sgemm(problem, device.info()), device, programs);
  const std::shared_ptr<Buffer> data = device.allocate(bytes);
  return [data, plan, &queue] {
    plan->enqueue(queue, {{{}, {}, {data.get()}}});
    queue.finish();
  };
}

}  // namespace

ColdCaches::ColdCaches(Device& device, Queue& queue)
    : write_other_data_(device.info().kind == DeviceKind::cpu
                            ? writing_on_host(bytes(device.info()))
                            : writing_on_device(bytes(device.info()), device, queue)) {}

std::size_t ColdCaches::sets(std::size_t operands, const DeviceInfo& info) {
  // One more than the repeats: a library may need an execution before those that are timed.
  return std::min<std::size_t>(bytes(info) / operands + 1, usual_most_repeats + 1);
}

// Four times the largest cache. OpenCL does not know a GPU's, hence the least; and memory is for operands.
std::size_t ColdCaches::bytes(const DeviceInfo& info) {
  const std::size_t least = info.kind == DeviceKind::cpu ? std::size_t{64} << 20 : std::size_t{512} << 20;
  const std::size_t most = std::min(info.memory_bytes / 16, info.max_allocation_bytes);
  return std::min(std::max(least, 4 * info.cache_bytes), most);
}

}  // namespace duogemm::bench
