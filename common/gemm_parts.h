// What the entries of the library's own kernels are made of.
#pragma once

#include <initializer_list>
#include <numeric>

#include "kernel_parts.h"

namespace duogemm {

inline Tunables without(Tunables tunables, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    tunables.erase(name);
  }
  return tunables;
}

inline bool quarters(std::int64_t value) { return value % 4 == 0; }

// How wide the vectors are, 4, 2 or 1, in which every column of every member of a batch can be read or
// written.
inline int vector_width(bool aligned, std::int64_t ld, std::int64_t stride, const Problem& problem) {
  if (!aligned || problem.batch_by != BatchBy::strides) {
    return 1;
  }
  const std::int64_t apart = problem.batch == 1 ? ld : std::gcd(ld, stride);
  return static_cast<int>(std::gcd(apart, std::int64_t{4}));
}

// Whether vectors of four can be.
inline bool in_vectors(bool aligned, std::int64_t ld, std::int64_t stride, const Problem& problem) {
  return vector_width(aligned, ld, stride, problem) == 4;
}

// The longest k of kernels that count it in 32 bits.
constexpr std::int64_t longest_int_k = (std::int64_t{1} << 30) - 1;

}  // namespace duogemm
