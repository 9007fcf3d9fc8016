#include "plan/analytic.h"

#include <algorithm>

namespace duogemm {
namespace {

constexpr double lanes_of_most = 128.0;
constexpr double default_clock_mhz = 1500.0;

bool multiplies_in_pieces(const Calibration& calibration, const DeviceInfo& device) {
  return !calibration.spec->family->multiplies_in(Precision::fp32) &&
         !unsupported_reason(*calibration.spec, calibration.tunables, device);
}

void add_calculated(Tuning& tuning, const UnmeasuredGpu& gpu, bool in_fp32) {
  for (const KernelSpec& spec : registry()) {
    if (spec.family && spec.family->multiplies_in(Precision::fp32) == in_fp32) {
      std::ranges::move(spec.family->calculated(spec, gpu), std::back_inserter(tuning.calibrations));
    }
  }
}

Tuning calculated(const DeviceInfo& device) {
  const UnmeasuredGpu gpu(device);
  Tuning tuning;
  tuning.source = "calculated";
  tuning.bandwidth = gpu.bandwidth;
  tuning.launch = gpu.launch;
  add_calculated(tuning, gpu, true);
  return tuning;
}

Tuning with_tensor_cores(Tuning tuning, const DeviceInfo& device) {
  if (std::ranges::none_of(tuning.calibrations,
                           [&](const Calibration& each) { return multiplies_in_pieces(each, device); })) {
    add_calculated(tuning, UnmeasuredGpu(device), false);
  }
  return tuning;
}

}  // namespace

// Compute capability 8.0 has half as many multiply-adds, which matters versus its tensor cores.
UnmeasuredGpu::UnmeasuredGpu(const DeviceInfo& of)
    : device(of),
      units(static_cast<double>(std::max<std::size_t>(of.compute_units, 1))),
      clock(1e6 * (of.clock_mhz > 0 ? static_cast<double>(of.clock_mhz) : default_clock_mhz)),
      lanes(of.compute_capability == 80 ? lanes_of_most / 2.0 : lanes_of_most) {
  constexpr double operations_per_byte =
      18.0;  // of those in single precision, for each byte that memory moves
  bandwidth = 2.0 * lanes_of_most * clock * units / operations_per_byte;
}

Calibration UnmeasuredGpu::calibration(const Variant& kernel, int most_groups, double work,
                                       double rate) const {
  constexpr double busy_items = 256.0;  // work-items that it takes to keep a unit busy
  const auto items = static_cast<double>(kernel.local[0] * kernel.local[1]);
  Calibration calibration{kernel.spec, kernel.tunables, {}};
  for (int groups = 1; groups <= most_groups; groups *= 2) {
    const double busy = std::min(1.0, groups * items / busy_items);
    calibration.timings.push_back({groups, fixed, groups * work / (rate * busy)});
  }
  return calibration;
}

Tuning tuning_or_analytic(const DeviceInfo& device) {
  const Tuning& tuning = tuning_for(device);
  if (device.kind == DeviceKind::cpu) {
    return tuning;
  }
  return with_tensor_cores(tuning.calibrations.empty() ? calculated(device) : tuning, device);
}

Tuning tuning_without(const KernelSpec& kernel, const DeviceInfo& device) {
  Tuning tuning = tuning_or_analytic(device);
  std::erase_if(tuning.calibrations, [&](const Calibration& each) { return each.spec == &kernel; });
  return with_tensor_cores(std::move(tuning), device);
}

}  // namespace duogemm
