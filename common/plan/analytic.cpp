#include "plan/analytic.h"

#include <algorithm>

namespace duogemm {
namespace {

// What GPUs of the last ten years have in common: multiply-adds of a compute unit in one cycle, work-items
// that it takes to keep them busy, and single-precision operations for each byte that memory moves.
constexpr double lanes = 128.0;
constexpr double busy_items = 256.0;
constexpr double operations_per_byte = 18.0;

constexpr double default_clock_mhz = 1500.0;
constexpr double launch = 3e-6;
constexpr double filling = 1e-6;  // of a work-group's first tile, and emptying

constexpr int most_measured = 16;

// A few tiles, from those with the most reuse to those that fill a device with a small result.
std::vector<Tunables> tiles() {
  const auto tile = [](int m, int n, int k, int per_m, int per_n, int lanes_m, int stages) {
    return Tunables{{"TSM", m},      {"TSN", n},           {"TSK", k},        {"WPTM", per_m},
                    {"WPTN", per_n}, {"LANES_M", lanes_m}, {"STAGES", stages}};
  };
  return {tile(128, 128, 16, 8, 8, 8, 3), tile(128, 64, 16, 8, 8, 8, 3), tile(64, 128, 16, 8, 8, 4, 3),
          tile(64, 64, 16, 8, 4, 4, 3),   tile(64, 32, 16, 4, 4, 8, 3),  tile(32, 64, 16, 4, 4, 4, 3),
          tile(32, 32, 32, 4, 4, 8, 2)};
}

// Each k takes a work-group's multiply-adds, and in between loads from local memory, the fewer the larger the
// block of a work-item is, and copies to it, the fewer the larger the tile is.
Calibration calibrated(const KernelSpec& spec, const Tunables& tunables, double unit_rate) {
  const Variant& kernel = variant_of(spec, tunables);
  const auto items = static_cast<double>(kernel.local[0] * kernel.local[1]);
  const double products = static_cast<double>(kernel.tile.m * kernel.tile.n);
  const double loads = 0.5 / tunables.at("WPTM") + 0.5 / tunables.at("WPTN") +
                       4.0 / static_cast<double>(kernel.tile.m) + 4.0 / static_cast<double>(kernel.tile.n);
  Calibration calibration{&spec, tunables, {}};
  for (int groups = 1; groups <= most_measured; groups *= 2) {
    const double busy = std::min(1.0, groups * items / busy_items);
    calibration.timings.push_back(
        {groups, launch + filling, groups * products * (1.0 + loads) / (unit_rate * busy)});
  }
  return calibration;
}

void add_tiles(Tuning& tuning, const DeviceInfo& device, double unit_rate) {
  const KernelSpec& spec = find_kernel("pipelined");
  for (const Tunables& tile : tiles()) {
    for (int storage = 0; !spec.gemm->fixed(storage).empty(); ++storage) {
      Tunables tunables = tile;
      tunables.merge(spec.gemm->fixed(storage));
      tunables = resolve(spec, tunables);
      if (!unsupported_reason(variant_of(spec, tunables), device)) {
        tuning.calibrations.push_back(calibrated(spec, tunables, unit_rate));
      }
    }
  }
}

// Skinny results take as long as reading the long operand does.
void add_skinny(Tuning& tuning, const DeviceInfo& device, const char* name) {
  const KernelSpec& spec = find_kernel(name);
  for (int storage = 0; !spec.gemm->fixed(storage).empty(); ++storage) {
    const Tunables tunables = resolve(spec, spec.gemm->fixed(storage));
    const Variant& kernel = variant_of(spec, tunables);
    if (unsupported_reason(kernel, device)) {
      continue;
    }
    const double bytes = sizeof(float) * static_cast<double>(std::max(kernel.tile.m, kernel.tile.n)) *
                         static_cast<double>(device.compute_units);
    const double per_k = bytes / tuning.bandwidth;
    tuning.calibrations.push_back(
        {&spec,
         tunables,
         {{1, launch + filling, per_k}, {most_measured, launch + filling, most_measured * per_k}}});
  }
}

}  // namespace

Tuning tuning_or_analytic(const DeviceInfo& device) {
  Tuning tuning = tuning_for(device);
  if (!tuning.calibrations.empty() || device.kind == DeviceKind::cpu) {
    return tuning;
  }
  const double clock =
      1e6 * (device.clock_mhz > 0 ? static_cast<double>(device.clock_mhz) : default_clock_mhz);
  const double unit_rate = lanes * clock;
  const auto units = static_cast<double>(std::max<std::size_t>(device.compute_units, 1));
  tuning.source = "calculated";
  tuning.bandwidth = 2.0 * unit_rate * units / operations_per_byte;
  tuning.launch = launch;
  add_tiles(tuning, device, unit_rate);
  add_skinny(tuning, device, "skinny_columns");
  add_skinny(tuning, device, "skinny_dots");
  return tuning;
}

}  // namespace duogemm
