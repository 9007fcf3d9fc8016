#include "plan/scaling.h"

#include <algorithm>

#include "problem/rounding.h"

namespace duogemm {
namespace {

// Work-groups of a kernel for which a compute unit has room, as far as its local memory and its work-items
// decide; registers are as many on all.
double room_for(const Variant& kernel, const DeviceInfo& device) {
  constexpr std::size_t reserved = 1024;  // bytes of local memory for each work-group, besides its own
  const std::size_t by_memory = (device.dynamic_local_bytes + reserved) / (kernel.local_bytes + reserved);
  const std::size_t by_items =
      device.unit_items == 0 ? by_memory : device.unit_items / (kernel.local[0] * kernel.local[1]);
  return static_cast<double>(std::min(by_memory, by_items));
}

}  // namespace

Tuning scaled(const Tuning& measured, const DeviceInfo& device) {
  const UnmeasuredGpu gpu(device);
  const double cycle = measured.clock / gpu.clock;
  const double each_k = cycle * lanes_of_unit(measured.target.compute_capability) / gpu.lanes;
  const double units = gpu.units / measured.units;
  Tuning tuning = measured;
  tuning.target = {};
  tuning.source = "scaled from " + measured.source;
  tuning.clock = gpu.clock;
  tuning.units = gpu.units;
  tuning.bandwidth = gpu.bandwidth;
  tuning.reading = gpu.reading;
  tuning.cached = measured.cached * units / cycle;
  tuning.cache = 0.0;
  tuning.shapes.clear();
  tuning.clusters.usable_units = whole_down(measured.clusters.usable_units * units);
  for (Calibration& calibration : tuning.calibrations) {
    const double room = room_for(variant_of(*calibration.spec, calibration.tunables), device);
    std::erase_if(calibration.timings,
                  [&](const Timing& timing) { return timing.groups > std::max(room, 1.0); });
    for (Timing& timing : calibration.timings) {
      timing.fixed = measured.launch + std::max(timing.fixed - measured.launch, 0.0) * cycle;
      timing.per_k *= each_k;
    }
  }
  std::erase_if(tuning.calibrations, [](const Calibration& each) { return each.timings.empty(); });
  return tuning;
}

}  // namespace duogemm
