#include "timing/bandwidth.h"

#include <algorithm>

#include "rungs/rungs.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// What is read in one execution, in vectors.
struct Reading {
  std::int32_t vectors;
  std::int32_t rounds;
  std::int32_t start;  // from one work-item's first to its neighbour's
  std::int32_t shift;  // from one of its vectors to the next
};

class Reader {
 public:
  Reader(Device& device, Queue& queue, ProgramCache& programs, std::size_t most_bytes,
         const std::atomic<bool>& stop)
      : queue_(queue),
        stop_(stop),
        cpu_(device.info().kind == DeviceKind::cpu),
        spec_(any_kernel("bandwidth")),
        tunables_(resolve(spec_, {{"GROUP", cpu_ ? 1 : 256}, {"WIDTH", cpu_ ? 16 : 4}})),
        kernel_(programs.get(variant_of(spec_, tunables_))),
        work_items_(device.info().compute_units * (cpu_ ? 64 : 256 * 16)),
        in_(device.allocate(most_bytes)),
        out_(device.allocate(work_items_ * sizeof(float))) {
    const std::vector<float> zeros(mebibyte / sizeof(float));  // every page has memory behind it
    for (std::size_t at = 0; at + mebibyte <= most_bytes; at += mebibyte) {
      queue.write(*in_->slice(at, mebibyte), zeros.data(), mebibyte);
    }
  }

  // Everything once: side by side on a GPU, each a part of its own on a CPU.
  double from_memory(std::size_t bytes) {
    const auto vectors = static_cast<std::int32_t>(bytes / vector_bytes());
    const auto work_items = static_cast<std::int32_t>(work_items_);
    const std::int32_t rounds = std::max(1, vectors / work_items);
    return cpu_ ? measure({vectors, rounds, rounds, 1}) : measure({vectors, rounds, 1, work_items % vectors});
  }

  // The same again and again, each time by somebody else: the golden section of the whole away, no
  // compute unit soon meets what its own small cache still has.
  double from_cache(std::size_t bytes) {
    const auto vectors = static_cast<std::int32_t>(bytes / vector_bytes());
    return measure({vectors, 256, 1, static_cast<std::int32_t>(0.618 * vectors) / 64 * 64});
  }

 private:
  std::size_t vector_bytes() const {
    return sizeof(float) * static_cast<std::size_t>(tunables_.find("WIDTH")->second);
  }

  double measure(const Reading& reading) {
    const Geometry geometry = spec_.geometry(static_cast<std::int64_t>(work_items_), 1, tunables_);
    const Contender contender{"bandwidth", [&](int repeats) {
                                return queue_.timed([&] {
                                  for (int i = 0; i < repeats; ++i) {
                                    const Argument arguments[] = {reading.vectors, reading.rounds,
                                                                  reading.start,   reading.shift,
                                                                  in_.get(),       out_.get()};
                                    queue_.launch(*kernel_, geometry, arguments);
                                  }
                                });
                              }};
    const MeasureOptions options{.seconds = 0.25, .stop = &stop_};
    const Samples samples = duogemm::measure({&contender, 1}, options, [](const std::string&) {}).front();
    if (samples.seconds.empty()) {
      return 0.0;
    }
    return static_cast<double>(work_items_ * vector_bytes()) * reading.rounds / samples.median();
  }

  Queue& queue_;
  const std::atomic<bool>& stop_;
  const bool cpu_;
  const KernelSpec& spec_;
  const Tunables tunables_;
  const std::shared_ptr<const Kernel> kernel_;
  const std::size_t work_items_;
  std::unique_ptr<Buffer> in_;
  std::unique_ptr<Buffer> out_;
};

}  // namespace

// More than any cache holds, and no large part of the memory.
std::size_t bandwidth_bytes(const DeviceInfo& info) {
  const std::size_t wanted = (info.kind == DeviceKind::cpu ? 256 : 1024) * mebibyte;
  return std::min({wanted, info.max_allocation_bytes / 4, info.memory_bytes / 16});
}

Bandwidth measure_bandwidth(Device& device, Queue& queue, ProgramCache& programs,
                            const std::atomic<bool>& stop) {
  const DeviceInfo& info = device.info();
  const std::size_t large = bandwidth_bytes(info);
  // A quarter of the cache.
  const std::size_t small = std::clamp(info.cache_bytes / 4, mebibyte / 2, 16 * mebibyte);
  Reader reader(device, queue, programs, large, stop);
  const bool gpu = info.kind == DeviceKind::gpu;
  return {gpu ? reader.from_cache(small) : 0.0, reader.from_memory(large)};
}

}  // namespace duogemm::bench
