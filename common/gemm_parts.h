// What the entries of the library's own kernels are made of.
#pragma once

#include <initializer_list>

#include "kernel_parts.h"

namespace duogemm {

inline Tunables without(Tunables tunables, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    tunables.erase(name);
  }
  return tunables;
}

inline bool quarters(std::int64_t value) { return value % 4 == 0; }

// Whether vectors of four can be read from, or written to, every column of every member of a batch.
inline bool in_vectors(bool aligned, std::int64_t ld, std::int64_t stride, const Problem& problem) {
  return aligned && problem.batch_by == BatchBy::strides && quarters(ld) &&
         (problem.batch == 1 || quarters(stride));
}

// The longest k of kernels that count it in 32 bits.
constexpr std::int64_t longest_int_k = (std::int64_t{1} << 30) - 1;

}  // namespace duogemm
