#include "arena.h"

#include <algorithm>

#include "measure.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Four times the largest cache. OpenCL does not know a GPU's, hence the least; and memory is for operands.
std::size_t uncacheable_bytes(const DeviceInfo& info) {
  const std::size_t least = info.kind == DeviceKind::cpu ? 64 * mebibyte : 512 * mebibyte;
  const std::size_t most = std::min(info.memory_bytes / 16, info.max_allocation_bytes);
  return std::min(std::max(least, 4 * info.cache_bytes), most);
}

// Writes so much on a CPU, whose caches the host's are.
std::function<void()> writing_on_host(std::size_t bytes) {
  const auto data = std::make_shared<std::vector<float>>(bytes / sizeof(float));
  return [data, value = 0.0f]() mutable { std::fill(data->begin(), data->end(), value += 1.0f); };
}

// Writes so much, or a little less, on the device: C <- 0.
std::function<void()> writing_on_device(std::size_t bytes, Runtime& runtime, Queue& queue) {
  constexpr std::int64_t rows = 4096;
  const Problem problem =
      Problem::packed(rows, static_cast<std::int64_t>(bytes / sizeof(float)) / rows, 1, 0.0f);
  const std::shared_ptr<Buffer> data = runtime.device().allocate(bytes);
  return [data, problem, &runtime, &queue] {
    runtime.enqueue(problem, queue, {{{}, {}, {data.get()}}});
    queue.finish();
  };
}

}  // namespace

Arena::Arena(const ChosenDevice& chosen, const Conditions& conditions)
    : runtime_(chosen.backend->open(chosen.index, {})),
      queue_(device().create_queue()),
      libraries_(all_libraries(device(), *queue_)),
      graph_(conditions.graph && info().backend == "cuda") {
  std::erase_if(libraries_, [&](const auto& library) {
    return conditions.against && std::find(conditions.against->begin(), conditions.against->end(),
                                           library->title()) == conditions.against->end();
  });
  if (conditions.cold) {
    other_bytes_ = uncacheable_bytes(info());
    write_other_data_ = info().kind == DeviceKind::cpu ? writing_on_host(other_bytes_)
                                                       : writing_on_device(other_bytes_, runtime_, *queue_);
  }
}

std::size_t Arena::sets(std::size_t bytes) const {
  if (other_bytes_ == 0) {
    return 1;
  }
  // One more than the repeats: a library may need an execution before those that are timed.
  return std::min<std::size_t>(other_bytes_ / bytes + 1, most_repeats + 1);
}

void Arena::clear_caches() {
  if (write_other_data_) {
    write_other_data_();
  }
}

}  // namespace duogemm::bench
