// A problem with random data in host memory.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/problem.h"

namespace duogemm {

enum class Distribution {
  integers,     // whole numbers in [-8, 8]: sums are exact as long as they stay below 2^24
  signed_unit,  // uniform on (-1, 1)
  unit,         // uniform on (0, 1): no cancellation
  wide_range,   // uniform on (-1, 1) times 2^e, e uniform on [-20, 20]
};

struct HostProblem {
  Problem problem;
  std::vector<float> a;  // as stored, the gaps between columns and between matrices filled with NaN
  std::vector<float> b;
  std::vector<float> c;  // all NaN when beta is zero: it must not be read then
  // Where in them the matrices of each member of the batch begin.
  std::vector<std::int64_t> a_places;
  std::vector<std::int64_t> b_places;
  std::vector<std::int64_t> c_places;
};

// The matrices of a batch that is not strided lie in an order and at distances that are no stride's.
HostProblem random_problem(const Problem& problem, Distribution distribution, std::uint32_t seed);

// A quiet NaN that tells by its payload where it comes from.
float tagged_nan(std::uint32_t tag, std::size_t index);

}  // namespace duogemm
