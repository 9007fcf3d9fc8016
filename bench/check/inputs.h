// The numbers that multiplications are tried with: a problem with random data in host memory, or numbers for
// matrices of any size.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
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
  // The matrices of each member of the batch begin there in them.
  std::vector<std::int64_t> a_places;
  std::vector<std::int64_t> b_places;
  std::vector<std::int64_t> c_places;
};

// The matrices of a batch that is not strided lie in an order and at distances that are no stride's.
HostProblem random_problem(const Problem& problem, Distribution distribution, std::uint32_t seed);

// op(X), packed: rows x cols.
std::vector<float> gather(std::span<const float> x, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                          Transpose op);

// A quiet NaN that tells by its payload where it comes from.
float tagged_nan(std::uint32_t tag, std::size_t index);

// The matrices of every measurement have these numbers, again and again from the first element of an array to
// its last: those of any size are filled, and judged, without a copy of them on the host.
struct TestData {
  // A prime: no leading dimension meets the same numbers again and again.
  static constexpr std::int64_t period = 1048583;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;
  std::vector<float> unread_c;  // NaNs, where beta is zero

  const std::vector<float>& initial_c(float beta) const { return beta == 0.0f ? unread_c : c; }
};

const TestData& test_data();

// Where an element stands: in which row of A or column of B, of how many, and at which k, of how many.
struct Place {
  std::int64_t line;
  std::int64_t lines;
  std::int64_t p;
  std::int64_t k;
};

enum class Factor { a, b };

// A kind of matrices for which the error of a product is measured. Every element follows from its place
// alone: the same matrices on every machine.
struct InputClass {
  std::string name;
  std::string about;
  double (*element)(const Place& place, Factor of);
  bool exact = false;  // every sum is a whole number below 2^24, so that no result may be rounded
};

const std::vector<InputClass>& input_classes();

// Column-major, m x k and k x n. Large ones are made by every core of the machine.
std::vector<float> make_a(const InputClass& input, std::int64_t m, std::int64_t k);
std::vector<float> make_b(const InputClass& input, std::int64_t k, std::int64_t n);

// Calls work(from, to) for parts of 0 to count, and returns when all are done. One of the count takes about
// `steps` steps: as many of the machine's cores take part as then have enough to do.
void in_parts(std::int64_t count, std::int64_t steps,
              const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace duogemm
