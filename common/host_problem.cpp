#include "host_problem.h"

#include <bit>
#include <cmath>
#include <random>

namespace duogemm {
namespace {

class Source {
 public:
  Source(Distribution distribution, std::uint32_t seed) : distribution_(distribution), engine_(seed) {}

  float next() {
    switch (distribution_) {
      case Distribution::integers:
        return static_cast<float>(static_cast<int>(engine_() % 17) - 8);
      case Distribution::signed_unit:
        return 2.0f * unit() - 1.0f;
      case Distribution::unit:
        return unit();
      case Distribution::wide_range:
        return std::ldexp(2.0f * unit() - 1.0f, static_cast<int>(engine_() % 41) - 20);
    }
    return 0.0f;
  }

 private:
  // The middle of one of 2^23 equal steps of (0, 1).
  float unit() { return (static_cast<float>(engine_() >> 9) + 0.5f) * 0x1p-23f; }

  Distribution distribution_;
  std::mt19937 engine_;
};

std::vector<float> random_matrix(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::uint32_t tag,
                                 Source& source) {
  std::vector<float> matrix(static_cast<std::size_t>(ld * cols));
  for (std::int64_t i = 0; i < ld * cols; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    matrix[at] = i % ld < rows ? source.next() : tagged_nan(tag, at);
  }
  return matrix;
}

}  // namespace

HostProblem random_problem(const Problem& problem, Distribution distribution, std::uint32_t seed) {
  Source source(distribution, seed);
  HostProblem host{problem, {}, {}, {}};
  host.a = random_matrix(problem.a_rows(), problem.a_cols(), problem.lda, 1, source);
  host.b = random_matrix(problem.b_rows(), problem.b_cols(), problem.ldb, 2, source);
  host.c = random_matrix(problem.beta == 0.0f ? 0 : problem.m, problem.n, problem.ldc, 3, source);
  return host;
}

float tagged_nan(std::uint32_t tag, std::size_t index) {
  return std::bit_cast<float>(0x7fc00000u | tag << 19 | (static_cast<std::uint32_t>(index) & 0x7ffffu));
}

}  // namespace duogemm
