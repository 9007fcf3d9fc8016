// The judge of a result: a double-precision reference with its error bound, and the exact bits that every
// kernel owes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"

namespace duogemm {

// This was found out about a result.
struct Verdict {
  std::size_t computed = 0;        // elements that were computed anew
  double worst_error = 0.0;        // of these, in units of the bound: right when at most 1
  std::size_t different_bits = 0;  // of these, whose bits are not those of one fma chain in ascending k
  std::size_t not_finite = 0;    // elements that are NaN or infinite, as unwritten ones are, and must not be
  std::size_t overwritten = 0;   // elements of anything else that were changed
  std::string first_fault = {};  // where and what is wrong; empty when nothing is
  std::string first_difference = {};  // the first of different_bits
  std::uint64_t fingerprint = 0;      // of the bits of C and of what is around it

  // Right within the bound, with nothing unwritten and nothing overwritten.
  bool ok() const { return worst_error <= 1.0 && not_finite == 0 && overwritten == 0; }
  bool same_bits() const { return different_bits == 0; }
  // A kernel that adds up products in the chain's order owes this.
  bool exact() const { return ok() && same_bits(); }
  const std::string& fault() const { return first_fault.empty() ? first_difference : first_fault; }
};

// An element of C as whoever asks for it counts, to be named in a fault: "member 3: C(1, 2)".
struct Element {
  std::int64_t row;
  std::int64_t col;
  std::int64_t member = -1;  // none
};

// The result of a problem, computed three ways for each element of C:
//   in double, from the same float inputs;
//   |alpha| |A| |B| + |beta| |C| in double, which scales the error bound (2 sqrt(k) + 4) 2^-24 of a float
//   result;
//   as one float chain of fma in ascending k from zero, or at the level `everywhere` the sum of one for each
//   split of k, ended by fma(alpha, acc, beta * c), or alpha * acc when beta is zero: the bits that every
//   kernel of this project produces.
// Uses every core of the machine.
class Oracle {
 public:
  // a, b and c as the problem describes them, column-major; c is read only when beta is not zero.
  Oracle(const Problem& problem, std::span<const float> a, std::span<const float> b,
         std::span<const float> c);

  // c: the result, with the problem's ldc.
  Verdict compare(std::span<const float> c) const;

  // Adds to the verdict what is found of one element; NaNs are equal to each other whatever their payload.
  void judge(std::int64_t row, std::int64_t col, float found, const Element& element, Verdict& verdict) const;

  // The element's error in units of 2^-24 (|alpha| |A| |B| + |beta| |C|); infinity where the value is not
  // finite and the reference is.
  double units(std::int64_t row, std::int64_t col, float found) const;

  // The value with the owed bits.
  float expected(std::int64_t row, std::int64_t col) const { return chain_[index(row, col)]; }

 private:
  std::size_t index(std::int64_t row, std::int64_t col) const {
    return static_cast<std::size_t>(col * problem_.m + row);
  }

  Problem problem_;
  std::vector<double> value_;  // these three are m x n, packed
  std::vector<double> magnitude_;
  std::vector<float> chain_;
};

}  // namespace duogemm
