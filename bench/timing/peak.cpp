#include "timing/peak.h"

#include <algorithm>
#include <chrono>

#include "rungs/rungs.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr double flops_per_round = 2.0 * 128.0;  // of one work-item

class Peak {
 public:
  Peak(Device& device, Queue& queue, ProgramCache& programs)
      : queue_(queue),
        cpu_(device.info().kind == DeviceKind::cpu),
        spec_(any_kernel("peak")),
        tunables_(resolve(spec_, {{"GROUP", cpu_ ? 1 : 256}})),
        kernel_(programs.get(variant_of(spec_, tunables_))),
        few_(device.info().compute_units * (cpu_ ? 1 : 256)),
        work_items_(few_),
        out_(device.allocate(most() * sizeof(float))) {}

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
        std::clamp(static_cast<std::size_t>(static_cast<double>(few_) * wanted / taken), few_, most());
    work_items_ -= work_items_ % few_;
  }

  // By the host's clock: to launch takes a thousandth, and there are drivers whose own clock stands still.
  double seconds(int repeats) {
    const Geometry geometry = spec_.geometry(static_cast<std::int64_t>(work_items_), 1, tunables_);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      const Argument arguments[] = {std::int32_t{rounds_}, 0.999f, 0.001f, out_.get()};
      queue_.launch(*kernel_, geometry, arguments);
    }
    queue_.finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  double flops() const { return flops_per_round * rounds_ * static_cast<double>(work_items_); }

 private:
  std::size_t most() const { return few_ * (cpu_ ? 64 : 32); }

  Queue& queue_;
  const bool cpu_;
  const KernelSpec& spec_;
  const Tunables tunables_;
  const std::shared_ptr<const Kernel> kernel_;
  const std::size_t few_;  // a work-group for each compute unit
  std::size_t work_items_;
  const std::unique_ptr<Buffer> out_;
  int rounds_ = 16;
};

}  // namespace

double measure_peak(Device& device, Queue& queue, ProgramCache& programs, const std::atomic<bool>& stop) {
  Peak peak(device, queue, programs);
  peak.fit(stop);
  const Contender contender{"peak", [&](int repeats) { return peak.seconds(repeats); }};
  const MeasureOptions options{.seconds = 0.5, .stop = &stop};
  const Samples samples = measure({&contender, 1}, options, [](const std::string&) {}).front();
  return samples.seconds.empty() ? 0.0 : peak.flops() / samples.median();
}

}  // namespace duogemm::bench
