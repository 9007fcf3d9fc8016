// The judge of a result: a double-precision reference with its error bound, and the exact bits that every
// kernel owes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "check/verdict.h"
#include "problem/problem.h"

namespace duogemm {

// An element of C as whoever asks for it counts, to be named in a fault: "member 3: C(1, 2)".
struct Element {
  std::int64_t row;
  std::int64_t col;
  std::int64_t member = -1;  // none
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

  // c: the result, with the problem's ldc.
  Verdict compare(std::span<const float> c) const;

  // Adds to the verdict what is found of one element; NaNs are equal to each other whatever their payload.
  void judge(std::int64_t row, std::int64_t col, float found, const Element& element, Verdict& verdict) const;

  // The element's error in units of 2^-24 (|alpha| |A| |B| + |beta| |C|); infinity where the value is not
  // finite and the reference is.
  double units(std::int64_t row, std::int64_t col, float found) const {
    return units(index(row, col), found);
  }

  // The value with the owed bits.
  float expected(std::int64_t row, std::int64_t col) const { return chain_[index(row, col)]; }

 private:
  double units(std::size_t at, float value) const;
  // The bound in these units.
  double bound() const;
  std::size_t index(std::int64_t row, std::int64_t col) const;
  // From the sums over k to the element, given what C was (zero when beta is).
  void finish(std::size_t at, float old);

  Problem problem_;
  std::vector<double> value_;  // these three are m x n, packed
  std::vector<double> magnitude_;
  std::vector<float> chain_;
};

}  // namespace duogemm
