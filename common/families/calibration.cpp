#include "families/calibration.h"

#include <algorithm>

namespace duogemm {
namespace {

constexpr double lanes_of_most = 128.0;
constexpr double default_clock_mhz = 1500.0;

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

}  // namespace duogemm
