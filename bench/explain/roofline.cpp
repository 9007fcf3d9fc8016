#include "explain/roofline.h"

#include <algorithm>

namespace duogemm::bench {
namespace {

double loads_and_stores(const Mix& mix) {
  double sum = 0.0;
  for (const Kind kind : {Kind::local_load, Kind::local_store, Kind::global_load, Kind::global_store,
                          Kind::copy, Kind::stack_load, Kind::stack_store, Kind::shuffle}) {
    sum += mix[kind].instructions;
  }
  return sum;
}

// A multiprocessor issues so many instructions per clock, and its one path for loads, stores and shuffles
// takes one warp of 32 per clock, or less when their addresses lie unfavourably.
void add_gpu_bounds(std::vector<Bound>& bounds, const Mix& mix, const Abilities& abilities) {
  const Multiprocessor& unit = *abilities.multiprocessor;
  constexpr double path = 32.0;
  const double clocks_of_peak = mix.multiply_adds / unit.multiply_adds;
  bounds.push_back(
      {"instructions", abilities.peak * std::min(1.0, clocks_of_peak / (mix.instructions() / unit.issued))});
  bounds.push_back({"loads, stores and shuffles",
                    abilities.peak * std::min(1.0, clocks_of_peak / (loads_and_stores(mix) / path))});
}

// Cores differ, and what one does per clock is not known here. The peak is taken for one multiply-add of full
// width per clock, which is the least; in the same clock there may be two narrower ones, three loads, two
// stores, and six instructions in all.
void add_cpu_bounds(std::vector<Bound>& bounds, const Mix& mix, const Abilities& abilities) {
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

Roofline roofline(const Mix& mix, const Shape& problem, const Multiples& tile, const Abilities& abilities) {
  Roofline result;
  const auto level = [&](const char* name, double flops_per_byte, double bytes_per_second) {
    result.levels.push_back({name, flops_per_byte, bytes_per_second});
    if (bytes_per_second > 0.0) {
      result.bounds.push_back({name, flops_per_byte * bytes_per_second});
    }
  };
  const double local = mix[Kind::local_load].bytes;
  const double global = mix[Kind::global_load].bytes + mix[Kind::copy].bytes + mix[Kind::stack_load].bytes;
  if (local > 0.0) {
    level("local memory", 2.0 * mix.multiply_adds / local, 0.0);
  }
  if (global > 0.0) {
    level(abilities.multiprocessor ? "first cache" : "loads", 2.0 * mix.multiply_adds / global, 0.0);
  }
  level("shared cache", flops_per_byte(tile), abilities.bandwidth.cache);
  level("memory", flops_per_byte(problem), abilities.bandwidth.memory);
  if (abilities.peak > 0.0) {
    result.bounds.push_back({"multiply-adds", abilities.peak});
    if (abilities.multiprocessor) {
      add_gpu_bounds(result.bounds, mix, abilities);
    } else if (abilities.vector_floats > 0) {
      add_cpu_bounds(result.bounds, mix, abilities);
    }
  }
  std::stable_sort(result.bounds.begin(), result.bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.flops < b.flops; });
  return result;
}

}  // namespace duogemm::bench
