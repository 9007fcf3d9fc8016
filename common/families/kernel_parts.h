// Parts of the registry's entries. Kernels are compiled for the ways in which problems store their operands,
// which are told apart here.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

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

// The same with all work-groups in one dimension: its limit is the highest that devices have.
inline Geometry tiles_in_line(std::int64_t rows, std::int64_t tile_x, std::int64_t cols, std::int64_t tile_y,
                              int x, int y = 1) {
  Geometry geometry = tiles(rows, tile_x, cols, tile_y, x, y);
  geometry.groups = {geometry.groups[0] * geometry.groups[1], 1, 1};
  return geometry;
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

// The launch and the memory of kernels that copy such tiles ahead, in STAGES.
inline KernelSpec with_stages_of_tiles(KernelSpec spec) {
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles_in_line(m, at(t, "TSM"), n, at(t, "TSN"), rectangular_work_items(t));
  };
  spec.local_bytes = [](const Tunables& t) {
    return sizeof(float) * at(t, "STAGES") * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN"));
  };
  return spec;
}

// The longest k of kernels that count it in 32 bits.
inline constexpr std::int64_t longest_int_k = (std::int64_t{1} << 30) - 1;

// Numbers the four ways of storing op(A) and op(B) from 0 to 3.
inline int transposes(const Problem& p) {
  return int{p.a_op == Transpose::yes} + 2 * int{p.b_op == Transpose::yes};
}

inline bool quarters(std::int64_t value) { return value % 4 == 0; }

// Tells whether every column of every member of a batch can be read or written as float4.
inline bool in_vectors(bool aligned, std::int64_t ld, std::int64_t stride, const Problem& problem) {
  return aligned && problem.batch_by == BatchBy::strides && quarters(ld) &&
         ((problem.batch == 1 && !problem.is_grouped()) || quarters(stride));
}

// The same, if vectors along m and n are to end with the matrix, unless there is more in memory.
inline bool a_in_vectors(const Problem& p) {
  const bool whole = p.a_op == Transpose::yes || p.a_padded || quarters(p.m);
  return whole && in_vectors(p.a_aligned, p.lda, p.a_stride, p);
}
inline bool b_in_vectors(const Problem& p) {
  const bool whole = p.b_op == Transpose::no || p.b_padded || quarters(p.n);
  const bool begins_anywhere = p.is_grouped() && p.b_op == Transpose::yes;  // a group along n
  return whole && !begins_anywhere && in_vectors(p.b_aligned, p.ldb, p.b_stride, p);
}
inline bool c_in_vectors(const Problem& p) {
  const bool apart = p.addend_apart;  // where its address allows, as kernels ask themselves
  return (quarters(p.m) || (p.c_padded && !apart)) && in_vectors(p.c_aligned, p.ldc, p.c_stride, p) &&
         (!apart || in_vectors(true, p.addend_ld, p.addend_stride, p));
}

// The same problem, where a vector that is stored without gaps is stored along k.
inline Problem vectors_along_k(Problem p) {
  if (p.m == 1 && p.lda == 1) {
    p.a_op = Transpose::yes;
  }
  if (p.n == 1 && p.ldb == 1) {
    p.b_op = Transpose::no;
  }
  return p;
}

// Every combination of values of some tunables; those of the first one change fastest.
inline std::vector<Tunables> every(std::initializer_list<std::pair<const char*, std::vector<int>>> tunables) {
  std::vector<Tunables> all(1);
  for (const auto& [name, values] : tunables) {
    std::vector<Tunables> extended;
    for (const int value : values) {
      for (Tunables each : all) {
        each.emplace(name, value);
        extended.push_back(std::move(each));
      }
    }
    all = std::move(extended);
  }
  return all;
}

}  // namespace duogemm
