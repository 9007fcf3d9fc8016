// The judge of a result: a double-precision reference with its error bound, and the exact bits that every
// kernel owes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace duogemm {

struct Comparison {
  double worst_error = 0.0;        // in units of the bound: right when at most 1
  std::size_t different_bits = 0;  // elements whose bits are not the oracle's
  std::size_t overwritten = 0;     // elements outside the result that were changed
  std::string first_fault;         // where and what; empty when there is none

  bool within_bound() const { return worst_error <= 1.0; }
  bool same_bits() const { return different_bits == 0; }
  bool ok() const { return within_bound() && same_bits() && overwritten == 0; }
};

// The result of a problem, computed three ways for each element of C:
//   in double, from the same float inputs;
//   |alpha| |A| |B| + |beta| |C| in double, which scales the error bound (2 sqrt(k) + 4) 2^-24 of a float
//   result; as one float chain of fma in ascending k from zero, ended by fma(alpha, acc, beta * c), or alpha
//   * acc when beta is zero: the bits that every kernel of this project produces.
// Uses every core of the machine.
class Oracle {
 public:
  // a, b and c as the problem describes them, column-major; c is read only when beta is not zero.
  Oracle(const Problem& problem, std::span<const float> a, std::span<const float> b,
         std::span<const float> c);

  // c: the result, with the problem's ldc. NaNs are equal to each other whatever their payload.
  Comparison compare(std::span<const float> c) const;

  // In units of the bound; infinity where the value is not finite and the reference is.
  double error(std::int64_t row, std::int64_t col, float value) const;
  // The value with the owed bits.
  float expected(std::int64_t row, std::int64_t col) const;

 private:
  std::size_t index(std::int64_t row, std::int64_t col) const;
  // From the sums over k to the element, given what C was (zero when beta is).
  void finish(std::size_t at, float old);

  Problem problem_;
  std::vector<double> value_;  // these three are m x n, packed
  std::vector<double> magnitude_;
  std::vector<float> chain_;
};

}  // namespace duogemm
