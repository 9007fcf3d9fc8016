#include "explain/roofline.h"

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

double loads_and_stores(const Mix& mix) {
  double sum = 0.0;
  for (const Kind kind : {Kind::local_load, Kind::local_store, Kind::global_load, Kind::global_store,
                          Kind::copy, Kind::stack_load, Kind::stack_store, Kind::shuffle}) {
    sum += mix[kind].instructions;
  }
  return sum;
}

// Per clock a multiprocessor does a number of multiply-adds, issues a number of instructions, and its one
// path for loads, stores and shuffles takes one warp of 32, or less when their addresses lie unfavourably.
void add_gpu_bounds(std::vector<Bound>& bounds, const Mix& mix, const Abilities& abilities, int products) {
  const Multiprocessor& unit = *abilities.multiprocessor;
  constexpr double path = 32.0;
  const double rate = products > 0 ? unit.tensor_multiply_adds : unit.multiply_adds;
  const double multiplying = rate > 0.0 ? mix.multiply_adds / rate : 0.0;
  const double useful = mix.multiply_adds / std::max(products, 1);
  const auto add = [&](const char* name, double clocks) {
    bounds.push_back({name, abilities.peak * useful / unit.multiply_adds / std::max(clocks, multiplying)});
  };
  if (multiplying > 0.0) {
    add(products > 0 ? "tensor cores" : "multiply-adds", multiplying);
  }
  add("instructions", mix.instructions() / unit.issued);
  add("loads, stores and shuffles", loads_and_stores(mix) / path);
}

// Cores differ, and what one does per clock is not known here. The peak is taken for one multiply-add of full
// width per clock, which is the least; in the same clock there may be two narrower ones, three loads, two
// stores, and six instructions in all.
void add_cpu_bounds(std::vector<Bound>& bounds, const Mix& mix, const Abilities& abilities) {
  bounds.push_back({"multiply-adds", abilities.peak});
  const double multiply_adds = mix[Kind::multiply_add].instructions;
  const double full = static_cast<double>(abilities.vector_floats);
  const double width = mix.multiply_adds / multiply_adds / full;
  const double loads = mix[Kind::stack_load].instructions + mix[Kind::global_load].instructions;
  const double stores = mix[Kind::stack_store].instructions + mix[Kind::global_store].instructions;
  const auto add = [&](const char* name, double per_clock, double needed) {
    if (needed > 0.0) {
      bounds.push_back({name, abilities.peak * std::min(1.0, width * per_clock * multiply_adds / needed)});
    }
  };
  add("vector width", 2.0, multiply_adds);
  add("instructions", 6.0, mix.instructions());
  add("loads", 3.0, loads);
  add("stores", 2.0, stores);
}

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

Roofline roofline(const Mix& mix, const Shape& problem, const Multiples& tile, const Abilities& abilities,
                  int products) {
  Roofline result;
  const auto level = [&](const char* name, double flops_per_byte, double bytes_per_second) {
    result.levels.push_back({name, flops_per_byte, bytes_per_second});
    if (bytes_per_second > 0.0) {
      result.bounds.push_back({name, flops_per_byte * bytes_per_second});
    }
  };
  const double useful = mix.multiply_adds / std::max(products, 1);
  const double local = mix[Kind::local_load].bytes;
  const double global = mix[Kind::global_load].bytes + mix[Kind::copy].bytes + mix[Kind::stack_load].bytes;
  if (local > 0.0) {
    level("local memory", 2.0 * useful / local, 0.0);
  }
  if (global > 0.0) {
    level(abilities.multiprocessor ? "first cache" : "loads", 2.0 * useful / global, 0.0);
  }
  level("shared cache", flops_per_byte(tile), abilities.bandwidth.cache);
  level("memory", problem.flops() / bytes_of(problem), abilities.bandwidth.memory);
  if (abilities.peak > 0.0 && abilities.multiprocessor) {
    add_gpu_bounds(result.bounds, mix, abilities, products);
  } else if (abilities.peak > 0.0 && abilities.vector_floats > 0) {
    add_cpu_bounds(result.bounds, mix, abilities);
  } else if (abilities.peak > 0.0) {
    result.bounds.push_back({"multiply-adds", abilities.peak});
  }
  std::stable_sort(result.bounds.begin(), result.bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.flops < b.flops; });
  return result;
}

}  // namespace duogemm::bench
