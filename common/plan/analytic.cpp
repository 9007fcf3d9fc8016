#include "plan/analytic.h"

#include <algorithm>
#include <optional>

namespace duogemm {
namespace {

// What GPUs of the last ten years have in common: multiply-adds of a compute unit in one cycle, work-items
// that it takes to keep them busy, and single-precision operations for each byte that memory moves.
constexpr double lanes = 128.0;
constexpr double busy_items = 256.0;
constexpr double operations_per_byte = 18.0;

// Compute capability 8.0 has half as many multiply-adds: it matters beside its tensor cores.
double lanes_of(const DeviceInfo& device) { return device.compute_capability == 80 ? lanes / 2.0 : lanes; }

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

// Multiply-adds of FP16 or BF16 that tensor cores of a compute unit add up in FP32 in one cycle: NVIDIA's for
// data centres do twice what the others of their time do.
double tensor_lanes(int compute_capability) {
  const bool for_data_centres =
      compute_capability == 80 || compute_capability == 90 || compute_capability / 10 == 10;
  return for_data_centres ? 1024.0 : 512.0;
}

// A setting of tensor_mma with as many stages as there is room for; of fewer work-groups on a unit where
// there is none for so many.
std::optional<Tunables> tensor_tile(const KernelSpec& spec, int storage, int columns, int most_resident,
                                    const DeviceInfo& device) {
  for (int resident = most_resident; resident > 0; --resident) {
    for (const int stages : {4, 3, 2}) {
      Tunables tile = {
          {"TSM", 128}, {"TSN", columns}, {"WARP_N", 64}, {"STAGES", stages}, {"RESIDENT", resident}};
      tile.merge(spec.gemm->fixed(storage));
      const auto all = static_cast<std::size_t>(resident);
      if (keeps_rules(spec, tile) && all * spec.local_bytes(tile) <= device.large_local_bytes) {
        return tile;
      }
    }
  }
  return std::nullopt;
}

// One that fills a unit by itself, and a smaller one that does so in pairs or threes: FP16 takes more
// registers.
std::vector<Tunables> tensor_tiles(const KernelSpec& spec, int storage, const DeviceInfo& device) {
  std::vector<Tunables> tiles;
  for (const auto& [columns, most_resident] : {std::pair(128, 1), {64, storage == 0 ? 2 : 3}}) {
    if (const auto tile = tensor_tile(spec, storage, columns, most_resident, device)) {
      tiles.push_back(*tile);
    }
  }
  return tiles;
}

void add_tensor_cores(Tuning& tuning, const DeviceInfo& device, double clock) {
  constexpr double reached = 0.65;  // of what tensor cores can do
  const KernelSpec& spec = find_kernel("tensor_mma");
  for (const int storage : {0, 1}) {
    for (const Tunables& tile : tensor_tiles(spec, storage, device)) {
      const double products = tile.at("BF16X6") == 1 ? 6.0 : 3.0;
      const Variant& kernel = variant_of(spec, tile);
      if (unsupported_reason(kernel, device)) {
        continue;
      }
      Calibration calibration{&spec, tile, {}};
      for (int groups = 1; groups <= 4; groups *= 2) {
        const double busy = std::min(1.0, groups * static_cast<double>(kernel.local[0]) / busy_items);
        calibration.timings.push_back(
            {groups, launch + filling,
             groups * products * static_cast<double>(kernel.tile.m * kernel.tile.n) /
                 (reached * tensor_lanes(device.compute_capability) * clock * busy)});
      }
      tuning.calibrations.push_back(calibration);
    }
  }
}

bool multiplies_pieces(const Calibration& calibration, const DeviceInfo& device) {
  return calibration.spec->gemm->splits_operands &&
         !unsupported_reason(*calibration.spec, calibration.tunables, device);
}

double clock_of(const DeviceInfo& device) {
  return 1e6 * (device.clock_mhz > 0 ? static_cast<double>(device.clock_mhz) : default_clock_mhz);
}

Tuning calculated(const DeviceInfo& device) {
  Tuning tuning;
  const double clock = clock_of(device);
  const auto units = static_cast<double>(std::max<std::size_t>(device.compute_units, 1));
  tuning.source = "calculated";
  tuning.bandwidth = 2.0 * lanes * clock * units / operations_per_byte;
  tuning.launch = launch;
  add_tiles(tuning, device, lanes_of(device) * clock);
  add_skinny(tuning, device, "skinny_columns");
  add_skinny(tuning, device, "skinny_dots");
  return tuning;
}

Tuning with_tensor_cores(Tuning tuning, const DeviceInfo& device) {
  const auto multiplies = [&](const Calibration& each) { return multiplies_pieces(each, device); };
  if (std::none_of(tuning.calibrations.begin(), tuning.calibrations.end(), multiplies)) {
    add_tensor_cores(tuning, device, clock_of(device));
  }
  return tuning;
}

}  // namespace

Tuning tuning_or_analytic(const DeviceInfo& device) {
  const Tuning& tuning = tuning_for(device);
  if (device.kind == DeviceKind::cpu) {
    return tuning;
  }
  return with_tensor_cores(tuning.calibrations.empty() ? calculated(device) : tuning, device);
}

Tuning tuning_without_warpgroups(const DeviceInfo& device) {
  Tuning tuning = tuning_or_analytic(device);
  std::erase_if(tuning.calibrations,
                [](const Calibration& each) { return each.spec == &find_kernel("tensor"); });
  return with_tensor_cores(std::move(tuning), device);
}

}  // namespace duogemm
