// Elements of 16 bits, as tests make and judge them: by looking for the nearest number there is.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "problem/element_type.h"

namespace duogemm::testing {

// What bits stand for; with that of infinity, the number that would come next.
inline double magnitude_of(std::uint16_t bits, ElementType type) {
  const int digits = type == ElementType::bf16 ? 7 : 10;
  const int bias = type == ElementType::bf16 ? 127 : 15;
  const int exponent = bits >> digits;
  const int digit = bits - (exponent << digits) + (exponent > 0 ? 1 << digits : 0);
  return std::ldexp(digit, (exponent > 0 ? exponent : 1) - bias - digits);
}

inline std::uint16_t infinity_of(ElementType type) { return type == ElementType::bf16 ? 0x7f80 : 0x7c00; }

inline float value_of(std::uint16_t bits, ElementType type) {
  const auto magnitude = static_cast<std::uint16_t>(bits & 0x7fffu);
  const std::uint16_t most = infinity_of(type);
  const float value = magnitude > most    ? std::numeric_limits<float>::quiet_NaN()
                      : magnitude == most ? std::numeric_limits<float>::infinity()
                                          : static_cast<float>(magnitude_of(magnitude, type));
  return bits >= 0x8000u ? -value : value;
}

// The nearest, or of two the even one.
inline std::uint16_t nearest_bits(float value, ElementType type) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000u : 0u);
  const std::uint16_t most = infinity_of(type);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | (most + 1));
  }
  std::uint16_t low = 0, high = most;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (magnitude_of(middle, type) <= std::fabs(value) ? low : high) = middle;
  }
  const double above = magnitude_of(high, type) - std::fabs(value);
  const double below = std::fabs(value) - magnitude_of(low, type);
  return static_cast<std::uint16_t>(sign | (above < below || (above == below && high % 2 == 0) ? high : low));
}

// An operand as it is stored, two elements in each float where they have 16 bits.
inline std::vector<float> stored(const std::vector<float>& values, ElementType type) {
  if (type == ElementType::fp32) {
    return values;
  }
  std::vector<float> pairs(values.size() / 2 + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = nearest_bits(values[i], type);
    std::memcpy(reinterpret_cast<char*>(pairs.data()) + 2 * i, &bits, sizeof bits);
  }
  return pairs;
}

}  // namespace duogemm::testing
