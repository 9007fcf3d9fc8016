#include "timing/device_speed.h"

#include <algorithm>
#include <chrono>

#include "rungs/rungs.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// One of the kernels, compiled for a GPU in work-groups of 256, and for a CPU of one.
class SupportKernel {
 public:
  SupportKernel(const char* name, const Tunables& tunables, Queue& queue, ProgramCache& programs)
      : queue_(queue),
        spec_(any_kernel(name)),
        tunables_(resolve(spec_, tunables)),
        kernel_(programs.get(variant_of(spec_, tunables_))) {}

  void launch(std::size_t work_items, std::initializer_list<Argument> arguments) const {
    const Geometry geometry = spec_.geometry(static_cast<std::int64_t>(work_items), 1, tunables_);
    queue_.launch(*kernel_, geometry, {arguments.begin(), arguments.size()});
  }

 private:
  Queue& queue_;
  const KernelSpec& spec_;
  const Tunables tunables_;
  const std::shared_ptr<const Kernel> kernel_;
};

// A device that compiles nothing has neither of the kernels.
bool is_unknown(const Device& device) { return device.info().programs != nullptr; }

bool is_cpu(const Device& device) { return device.info().kind == DeviceKind::cpu; }

int group_of(const Device& device) { return is_cpu(device) ? 1 : 256; }

// The median for one execution; 0 when it is stopped before there is any.
double seconds_of(const std::function<double(int repeats)>& run, double most_seconds,
                  const std::atomic<bool>& stop) {
  const Contender contender{"", run};
  const MeasureOptions options{.seconds = most_seconds, .stop = &stop};
  const Samples samples = measure({&contender, 1}, options, [](const std::string&) {}).front();
  return samples.seconds.empty() ? 0.0 : samples.median();
}

class Peak {
 public:
  Peak(Device& device, Queue& queue, ProgramCache& programs)
      : queue_(queue),
        kernel_("peak", {{"GROUP", group_of(device)}}, queue, programs),
        few_(device.info().compute_units * static_cast<std::size_t>(group_of(device))),
        most_(few_ * (is_cpu(device) ? 64 : 32)),
        work_items_(few_),
        out_(device.allocate(most_ * sizeof(float))) {}

  // Many rounds, and many work-groups for each compute unit, so that the last ones to finish do not count: as
  // many as the device does in a tenth of a second.
  void fit(const std::atomic<bool>& stop) {
    constexpr int most_rounds = 1 << 20;
    constexpr double shortest = 2e-3;
    constexpr double wanted = 0.1;
    seconds(1);  // which pays for the first launch
    double taken = seconds(1);
    while (taken < shortest && rounds_ < most_rounds && !stop) {
      rounds_ *= 4;
      taken = seconds(1);
    }
    work_items_ =
        std::clamp(static_cast<std::size_t>(static_cast<double>(few_) * wanted / taken), few_, most_);
    work_items_ -= work_items_ % few_;
  }

  // By the host's clock: to launch takes a thousandth, and there are drivers whose own clock stands still.
  double seconds(int repeats) const {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      kernel_.launch(work_items_, {std::int32_t{rounds_}, 0.999f, 0.001f, out_.get()});
    }
    queue_.finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  double flops() const {
    constexpr double flops_per_round = 2.0 * 128.0;  // of one work-item
    return flops_per_round * rounds_ * static_cast<double>(work_items_);
  }

 private:
  Queue& queue_;
  const SupportKernel kernel_;
  const std::size_t few_;  // a work-group for each compute unit
  const std::size_t most_;
  std::size_t work_items_;
  const std::unique_ptr<Buffer> out_;
  int rounds_ = 16;
};

// An execution reads this, in vectors.
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
        cpu_(is_cpu(device)),
        vector_floats_(cpu_ ? 16 : 4),
        kernel_("bandwidth", {{"GROUP", group_of(device)}, {"WIDTH", vector_floats_}}, queue, programs),
        work_items_(device.info().compute_units * (cpu_ ? 64 : 256 * 16)),
        in_(device.allocate(most_bytes)),
        out_(device.allocate(work_items_ * sizeof(float))) {
    const std::vector<float> zeros(mebibyte / sizeof(float));  // so that every page has memory
    for (std::size_t at = 0; at + mebibyte <= most_bytes; at += mebibyte) {
      queue.write(*in_->slice(at, mebibyte), zeros.data(), mebibyte);
    }
  }

  // Everything once: side by side on a GPU, each a part of its own on a CPU.
  double from_memory(std::size_t bytes) {
    const auto vectors = static_cast<std::int32_t>(bytes / vector_bytes());
    const auto work_items = static_cast<std::int32_t>(work_items_);
    const std::int32_t rounds = std::max(1, vectors / work_items);
    return cpu_ ? speed({vectors, rounds, rounds, 1}) : speed({vectors, rounds, 1, work_items % vectors});
  }

  // The same again and again, each time by somebody else: the golden section of the whole away, no
  // compute unit soon meets what its own small cache still has.
  double from_cache(std::size_t bytes) {
    const auto vectors = static_cast<std::int32_t>(bytes / vector_bytes());
    return speed({vectors, 256, 1, static_cast<std::int32_t>(0.618 * vectors) / 64 * 64});
  }

 private:
  std::size_t vector_bytes() const { return sizeof(float) * static_cast<std::size_t>(vector_floats_); }

  double speed(const Reading& reading) {
    const auto run = [&](int repeats) {
      return queue_.timed([&] {
        for (int i = 0; i < repeats; ++i) {
          kernel_.launch(work_items_, {reading.vectors, reading.rounds, reading.start, reading.shift,
                                       in_.get(), out_.get()});
        }
      });
    };
    const double seconds = seconds_of(run, 0.25, stop_);
    return seconds > 0.0 ? static_cast<double>(work_items_ * vector_bytes()) * reading.rounds / seconds : 0.0;
  }

  Queue& queue_;
  const std::atomic<bool>& stop_;
  const bool cpu_;
  const int vector_floats_;
  const SupportKernel kernel_;
  const std::size_t work_items_;
  std::unique_ptr<Buffer> in_;
  std::unique_ptr<Buffer> out_;
};

}  // namespace

double measure_peak(Device& device, Queue& queue, ProgramCache& programs, const std::atomic<bool>& stop) {
  if (is_unknown(device)) {
    return 0.0;
  }
  Peak peak(device, queue, programs);
  peak.fit(stop);
  const double seconds = seconds_of([&](int repeats) { return peak.seconds(repeats); }, 0.5, stop);
  return seconds > 0.0 ? peak.flops() / seconds : 0.0;
}

// More than any cache holds, and no large part of the memory.
std::size_t bandwidth_bytes(const DeviceInfo& info) {
  const std::size_t wanted = (info.kind == DeviceKind::cpu ? 256 : 1024) * mebibyte;
  return std::min({wanted, info.max_allocation_bytes / 4, info.memory_bytes / 16});
}

Bandwidth measure_bandwidth(Device& device, Queue& queue, ProgramCache& programs,
                            const std::atomic<bool>& stop) {
  if (is_unknown(device)) {
    return {};
  }
  const DeviceInfo& info = device.info();
  const std::size_t large = bandwidth_bytes(info);
  // A quarter of the cache.
  const std::size_t small = std::clamp(info.cache_bytes / 4, mebibyte / 2, 16 * mebibyte);
  Reader reader(device, queue, programs, large, stop);
  const bool gpu = info.kind == DeviceKind::gpu;
  return {gpu ? reader.from_cache(small) : 0.0, reader.from_memory(large)};
}

}  // namespace duogemm::bench
