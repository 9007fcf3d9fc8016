// Kernels are compiled for the ways in which problems store their operands; here these are told apart.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "families/kernel_parts.h"

namespace duogemm {

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
         (problem.batch == 1 || quarters(stride));
}

// The same, if vectors along m and n are to end with the matrix, unless there is more in memory.
inline bool a_in_vectors(const Problem& p) {
  const bool whole = p.a_op == Transpose::yes || p.a_padded || quarters(p.m);
  return whole && in_vectors(p.a_aligned, p.lda, p.a_stride, p);
}
inline bool b_in_vectors(const Problem& p) {
  const bool whole = p.b_op == Transpose::no || p.b_padded || quarters(p.n);
  return whole && in_vectors(p.b_aligned, p.ldb, p.b_stride, p);
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
