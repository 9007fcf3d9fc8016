// Rounds numbers that are not negative.
#pragma once

#include <cstdint>
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

// The same of what is no integer: std::floor and std::ceil are calls on processors before SSE4.1.
inline double whole_down(double value) { return static_cast<double>(static_cast<std::int64_t>(value)); }
inline double whole_up(double value) {
  const double below = whole_down(value);
  return below < value ? below + 1.0 : below;
}

}  // namespace duogemm
