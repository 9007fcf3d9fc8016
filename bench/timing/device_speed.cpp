#include "timing/device_speed.h"

#include <algorithm>
#include <chrono>

#include "rungs/rungs.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Each work-item of a CPU has all of a core's vectors; WebGPU's drivers share them out among a work-group.
bool has_own_vectors(const DeviceInfo& info) { return info.kind == DeviceKind::cpu && !info.ladder_only; }

// One of the kernels, compiled for a GPU in work-groups of 256, and for a CPU of one.
class SupportKernel {
 public:
  SupportKernel(const char* name, Tunables tunables, Device& device, Queue& queue, ProgramCache& programs)
      : queue_(queue), cores_(device.info().compute_units), spec_(any_kernel(name)) {
    tunables["GROUP"] = has_own_vectors(device.info()) ? 1 : 256;
    tunables_ = resolve(spec_, tunables);
    kernel_ = programs.get(variant_of(spec_, tunables_));
  }

  void launch(std::size_t work_items, std::initializer_list<Argument> arguments) const {
    Geometry geometry = spec_.geometry(static_cast<std::int64_t>(work_items), 1, tunables_);
    geometry.cores = cores_;
    queue_.launch(*kernel_, geometry, {arguments.begin(), arguments.size()});
  }

 private:
  Queue& queue_;
  const std::size_t cores_;
  const KernelSpec& spec_;
  Tunables tunables_;
  std::shared_ptr<const Kernel> kernel_;
};

// Many enough for any GPU where the runtime does not tell.
std::size_t units_of(const DeviceInfo& info) { return info.compute_units > 0 ? info.compute_units : 64; }

// Nothing where the device has no compiler.
std::optional<SupportKernel> support_kernel(const char* name, const Tunables& tunables, Device& device,
                                            Queue& queue, ProgramCache& programs) {
  try {
    return SupportKernel(name, tunables, device, queue, programs);
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) {
      throw;
    }
    return std::nullopt;
  }
}

// Counts how often a second does what a run does; 0 when it is stopped before there is any time.
double rate_of(const std::function<double(int repeats)>& run, double most_seconds,
               const std::atomic<bool>& stop) {
  const Contender contender{"", run};
  const MeasureOptions options{.seconds = most_seconds, .stop = &stop};
  const Samples samples = measure({&contender, 1}, options, [](const std::string&) {}).front();
  return samples.seconds.empty() ? 0.0 : 1.0 / samples.median();
}

// An execution reads this, in vectors.
struct Reading {
  std::int32_t vectors;
  std::int32_t rounds;
  std::int32_t start;  // from one work-item's first to its neighbour's
  std::int32_t shift;  // from one of its vectors to the next
};

}  // namespace

// Many rounds, and many work-groups for each compute unit, so that the last ones to finish do not count: as
// many as the device does in a tenth of a second.
double measure_peak(Device& device, Queue& queue, ProgramCache& programs, const std::atomic<bool>& stop) {
  constexpr int most_rounds = 1 << 20;
  constexpr double shortest = 2e-3;
  constexpr double wanted = 0.1;
  constexpr double flops_per_round = 2.0 * 128.0;  // of one work-item
  const bool cpu = has_own_vectors(device.info());
  const auto kernel = support_kernel("peak", {}, device, queue, programs);
  if (!kernel) {
    return 0.0;
  }
  const std::size_t few = units_of(device.info()) * (cpu ? 1 : 256);  // a work-group for each unit
  const std::size_t most = few * (cpu ? 64 : 32);
  const std::unique_ptr<Buffer> out = device.allocate(most * sizeof(float));
  std::size_t work_items = few;
  std::int32_t rounds = 16;
  // By the host's clock: to launch takes a thousandth, and there are drivers whose own clock stands still.
  const auto seconds = [&](int repeats) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      kernel->launch(work_items, {rounds, 0.999f, 0.001f, out.get()});
    }
    queue.finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(1);  // which pays for the first launch
  double taken = seconds(1);
  while (taken < shortest && rounds < most_rounds && !stop) {
    rounds *= 4;
    taken = seconds(1);
  }
  work_items = std::clamp(static_cast<std::size_t>(static_cast<double>(few) * wanted / taken), few, most);
  work_items -= work_items % few;
  return flops_per_round * rounds * static_cast<double>(work_items) * rate_of(seconds, 0.5, stop);
}

// More than any cache holds, and no large part of the memory.
std::size_t bandwidth_bytes(const DeviceInfo& info) {
  const std::size_t wanted = (info.kind == DeviceKind::cpu ? 256 : 1024) * mebibyte;
  const std::size_t most = info.memory_bytes > 0 ? info.memory_bytes / 16 : wanted;
  return std::min({wanted, info.max_allocation_bytes / 4, most});
}

Bandwidth measure_bandwidth(Device& device, Queue& queue, ProgramCache& programs,
                            const std::atomic<bool>& stop) {
  const DeviceInfo& info = device.info();
  const bool cpu = has_own_vectors(info);
  const int vector_floats = cpu ? 16 : 4;
  const std::size_t vector_bytes = sizeof(float) * static_cast<std::size_t>(vector_floats);
  const auto kernel = support_kernel("bandwidth", {{"WIDTH", vector_floats}}, device, queue, programs);
  if (!kernel) {
    return {};
  }
  const std::size_t work_items = units_of(info) * (cpu ? 64 : 256 * 16);
  const std::size_t large = bandwidth_bytes(info);
  const std::unique_ptr<Buffer> in = device.allocate(large);
  const std::unique_ptr<Buffer> out = device.allocate(work_items * sizeof(float));
  const std::vector<float> zeros(mebibyte / sizeof(float));  // so that every page has memory
  for (std::size_t at = 0; at + mebibyte <= large; at += mebibyte) {
    queue.write(*in->slice(at, mebibyte), zeros.data(), mebibyte);
  }
  const auto speed = [&](const Reading& reading) {
    const auto run = [&](int repeats) {
      return queue.timed([&] {
        for (int i = 0; i < repeats; ++i) {
          kernel->launch(work_items, {reading.vectors, reading.rounds, reading.start, reading.shift, in.get(),
                                      out.get()});
        }
      });
    };
    return static_cast<double>(work_items * vector_bytes) * reading.rounds * rate_of(run, 0.25, stop);
  };
  Bandwidth found;
  if (info.kind == DeviceKind::gpu) {
    // A quarter of the cache, again and again, each time by somebody else: the golden section of the whole
    // away, no compute unit soon meets what its own small cache still has.
    const std::size_t small = std::clamp(info.cache_bytes / 4, mebibyte / 2, 16 * mebibyte);
    const auto vectors = static_cast<std::int32_t>(small / vector_bytes);
    found.cache = speed({vectors, 256, 1, static_cast<std::int32_t>(0.618 * vectors) / 64 * 64});
  }
  // Everything once: side by side on a GPU, each a part of its own on a CPU.
  const auto vectors = static_cast<std::int32_t>(large / vector_bytes);
  const auto items = static_cast<std::int32_t>(work_items);
  const std::int32_t rounds = std::max(1, vectors / items);
  found.memory = cpu ? speed({vectors, rounds, rounds, 1}) : speed({vectors, rounds, 1, items % vectors});
  return found;
}

}  // namespace duogemm::bench
