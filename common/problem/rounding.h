// Whole numbers of pieces. Of numbers that are not negative.
#pragma once

#include <type_traits>

namespace duogemm {

template <typename Integer>
constexpr Integer ceil_div(Integer value, std::type_identity_t<Integer> divisor) {
  return (value + divisor - 1) / divisor;
}

template <typename Integer>
constexpr Integer round_up(Integer value, std::type_identity_t<Integer> multiple) {
  return ceil_div(value, multiple) * multiple;
}

}  // namespace duogemm
