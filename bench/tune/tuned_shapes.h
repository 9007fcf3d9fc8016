// Looks for the best schedules of single shapes.
#pragma once

#include <tuple>

#include "tune/field.h"

namespace duogemm::bench {

// These tell shapes from each other.
inline auto key_of(const TunedShape& s) {
  return std::tuple(s.a_transposed, s.b_transposed, s.m, s.n, s.k, s.batch);
}
inline auto key_of(const Problem& p) {
  return std::tuple(p.a_op == Transpose::yes, p.b_op == Transpose::yes, p.m, p.n, p.k, p.batch);
}

// Covers the shapes that were asked for, as far as the budget lasts.
std::vector<TunedShape> tune_shapes(const std::vector<Field>& fields, Workbench& bench);

}  // namespace duogemm::bench
