// Numbers and random draws that tests share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>

namespace duogemm::testing {

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

inline std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint32_t>(high - low + 1));
  }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace duogemm::testing
