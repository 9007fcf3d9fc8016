#include "explain/multiprocessor.h"

#include <algorithm>
#include <array>
#include <limits>

#include "problem/rounding.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t k = 1024;

// The newest is the last. What tensor cores do follows from the data sheets of A100 (312 TFLOP/s of BF16) and
// H100 (989).
constexpr std::array multiprocessors = {
    Multiprocessor{35, 2048, 16, 64 * k, 48 * k, 0, 192, 256},
    Multiprocessor{37, 2048, 16, 128 * k, 112 * k, 0, 192, 256},
    Multiprocessor{50, 2048, 32, 64 * k, 64 * k, 0, 128, 128},
    Multiprocessor{52, 2048, 32, 64 * k, 96 * k, 0, 128, 128},
    Multiprocessor{53, 2048, 32, 64 * k, 64 * k, 0, 128, 128},
    Multiprocessor{60, 2048, 32, 64 * k, 64 * k, 0, 64, 128},
    Multiprocessor{61, 2048, 32, 64 * k, 96 * k, 0, 128, 128},
    Multiprocessor{62, 2048, 32, 64 * k, 64 * k, 0, 128, 128},
    Multiprocessor{70, 2048, 32, 64 * k, 96 * k, 0, 64, 128},
    Multiprocessor{75, 1024, 16, 64 * k, 64 * k, 0, 64, 128},
    Multiprocessor{80, 2048, 32, 64 * k, 164 * k, k, 64, 128, 1024},
    Multiprocessor{86, 1536, 16, 64 * k, 100 * k, k, 128, 128},
    Multiprocessor{87, 1536, 16, 64 * k, 164 * k, k, 128, 128},
    Multiprocessor{89, 1536, 24, 64 * k, 100 * k, k, 128, 128},
    Multiprocessor{90, 2048, 32, 64 * k, 228 * k, k, 128, 128, 2048},
    Multiprocessor{100, 2048, 32, 64 * k, 228 * k, k, 128, 128},
    Multiprocessor{120, 1536, 24, 64 * k, 100 * k, k, 128, 128},
};

// A multiprocessor gives out registers to a warp, and local memory to a work-group, in these units.
constexpr std::size_t register_unit = 256;
std::size_t local_unit(const Multiprocessor& of) { return of.capability >= 80 ? 128 : 256; }

}  // namespace

const Multiprocessor* multiprocessor_of(int capability) {
  const Multiprocessor* best = nullptr;
  for (const Multiprocessor& known : multiprocessors) {
    if (known.capability <= capability && known.capability / 10 == capability / 10) {
      best = &known;
    }
  }
  return best;
}

std::optional<Occupancy> occupancy(const Multiprocessor& of, std::size_t work_items, std::size_t registers,
                                   std::size_t local_bytes) {
  constexpr std::size_t warp = 32;
  constexpr std::size_t schedulers = 4;  // each has its own quarter of the registers
  const std::size_t warps = ceil_div(work_items, warp);
  const std::size_t warp_registers = round_up(std::max<std::size_t>(registers, 1) * warp, register_unit);
  const std::size_t warps_by_registers = of.registers / schedulers / warp_registers * schedulers;
  const std::size_t local = round_up(local_bytes + of.reserved, local_unit(of));
  const std::size_t none = std::numeric_limits<std::size_t>::max();
  const std::pair<std::size_t, const char*> limits[] = {
      {of.work_items / (warps * warp), "work-items"},
      {of.groups, "work-groups"},
      {warps_by_registers / warps, "registers"},
      {local > 0 ? of.local_bytes / local : none, "local memory"},
  };
  const auto least = std::min_element(std::begin(limits), std::end(limits),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  if (least->first == 0) {
    return std::nullopt;
  }
  return Occupancy{least->first, least->first * warps, of.work_items / warp, least->second};
}

}  // namespace duogemm::bench
