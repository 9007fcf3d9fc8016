// Parts of the registry's entries.
#pragma once

#include <stdexcept>

#include "families/kernel_spec.h"
#include "problem/rounding.h"

namespace duogemm {

// Throws std::out_of_range where the kernel has no such tunable: an entry of the registry misspells it.
inline int at(const Tunables& tunables, std::string_view name) {
  const auto found = tunables.find(name);
  if (found == tunables.end()) {
    throw std::out_of_range("no tunable " + std::string(name) + " among " + to_text(tunables));
  }
  return found->second;
}

inline std::size_t group_count(std::int64_t size, std::int64_t per_group) {
  return static_cast<std::size_t>(ceil_div(size, per_group));
}

// One work-group of x * y work-items for every tile_x by tile_y elements of the output.
inline Geometry tiles(std::int64_t rows, std::int64_t tile_x, std::int64_t cols, std::int64_t tile_y, int x,
                      int y) {
  return {{group_count(rows, tile_x), group_count(cols, tile_y), 1},
          {static_cast<std::size_t>(x), static_cast<std::size_t>(y), 1}};
}

inline Rule multiple_of(std::string value, std::string divisor) {
  const std::string reason = value + " to be a multiple of " + divisor;
  return {reason, [value, divisor](const Tunables& t) { return at(t, value) % at(t, divisor) == 0; }};
}

// --- Tiles of TSM x TSN x TSK, of which a work-item computes WPTM x WPTN elements ------------------------

inline Multiples rectangular_multiples(const Tunables& t) {
  return {at(t, "TSM"), at(t, "TSN"), at(t, "TSK")};
}

// Rows of C per work-item: rung 5 has one.
inline int rows_per_item(const Tunables& t) { return t.contains("WPTM") ? at(t, "WPTM") : 1; }

inline int rectangular_work_items(const Tunables& t) {
  return at(t, "TSM") / rows_per_item(t) * (at(t, "TSN") / at(t, "WPTN"));
}

inline Rule whole_loads(const char* tile) {
  return {std::string("TSK * ") + tile + " to be a multiple of WIDTH times the work-group",
          [tile](const Tunables& t) {
            const int width = t.contains("WIDTH") ? at(t, "WIDTH") : 1;
            return at(t, "TSK") * at(t, tile) % (width * rectangular_work_items(t)) == 0;
          }};
}

}  // namespace duogemm
