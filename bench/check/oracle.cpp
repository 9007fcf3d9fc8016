#include "check/oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "check/inputs.h"
#include "support/format.h"

namespace duogemm {
namespace {

// value += a * b, magnitude += |a * b|, chain = fma(a, b, chain), for `count` rows of one column.
[[gnu::always_inline]] inline void accumulate_rows(std::size_t count, const float* a, float b, double* value,
                                                   double* magnitude, float* chain) {
  for (std::size_t i = 0; i < count; ++i) {
    const double product = static_cast<double>(a[i]) * static_cast<double>(b);  // exact
    value[i] += product;
    magnitude[i] += std::fabs(product);
    chain[i] = std::fma(a[i], b, chain[i]);
  }
}

// fma must be one instruction for the chain to be fast, so the loop is compiled for several processors and
// the best is picked when the program starts. Without hardware fma the same code calls the C library's.
#define DUOGEMM_FOR_PROCESSOR(name, ...)                                                              \
  __VA_ARGS__ void name(std::size_t count, const float* a, float b, double* value, double* magnitude, \
                        float* chain) {                                                               \
    accumulate_rows(count, a, b, value, magnitude, chain);                                            \
  }
DUOGEMM_FOR_PROCESSOR(accumulate_on_any)
#if defined(__x86_64__) && defined(__GNUC__)
DUOGEMM_FOR_PROCESSOR(accumulate_on_avx2, [[gnu::target("avx2,fma")]])
DUOGEMM_FOR_PROCESSOR(accumulate_on_avx512, [[gnu::target("avx512f,avx512vl,avx2,fma")]])
const auto accumulate = __builtin_cpu_supports("avx512vl") ? accumulate_on_avx512
                        : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? accumulate_on_avx2
                                                                                          : accumulate_on_any;
#else
const auto accumulate = accumulate_on_any;
#endif

// By the same instruction, because the C library's own is not exact everywhere: MinGW's rounds twice.
float fused(float a, float b, float c) {
  double value = 0.0;
  double magnitude = 0.0;
  accumulate(1, &a, b, &value, &magnitude, &c);
  return c;
}

// The chains become part of the sums, and begin anew.
void end_split(std::size_t count, float* chains, float* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += chains[i];
    chains[i] = 0.0f;
  }
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

std::string name_of(const Element& element) {
  const std::string member = element.member < 0 ? "" : "member " + std::to_string(element.member) + ": ";
  return member + "C(" + std::to_string(element.row) + ", " + std::to_string(element.col) + ")";
}

}  // namespace

Oracle::Oracle(const Problem& problem, std::span<const float> a, std::span<const float> b,
               std::span<const float> c)
    : problem_(problem) {
  const std::int64_t m = problem.m;
  const std::int64_t k = problem.k;
  // As in BLAS, A and B are not read when alpha or k is zero: a NaN in them does not count then.
  const bool multiplies = problem.multiplies();
  const std::vector<float> op_a =
      multiplies ? gather(a, m, k, problem.lda, problem.a_op) : std::vector<float>();
  const std::vector<float> op_b =
      multiplies ? gather(b, k, problem.n, problem.ldb, problem.b_op) : std::vector<float>();
  const std::size_t elements = static_cast<std::size_t>(m * problem.n);
  value_.assign(elements, 0.0);
  magnitude_.assign(elements, 0.0);
  chain_.assign(elements, 0.0f);
  std::vector<float> sums;  // of the splits of k before this one
  if (problem.owed_splits() > 1) {
    sums.assign(elements, -0.0f);  // which changes no sum
  }

  // A block of A stays in the second-level cache while every column passes over it.
  constexpr std::int64_t block = 256;
  static_assert(everywhere_split % block == 0);
  in_parts(problem.n, m * (k + 1), [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t row = 0; row < m; row += block) {
      for (std::int64_t start = 0; multiplies && start < k; start += block) {
        for (std::int64_t col = from; col < to; ++col) {
          const std::size_t at = index(row, col);
          const auto rows = static_cast<std::size_t>(std::min(block, m - row));
          if (!sums.empty() && start > 0 && start % everywhere_split == 0) {
            end_split(rows, &chain_[at], &sums[at]);
          }
          for (std::int64_t p = start; p < std::min(start + block, k); ++p) {
            accumulate(rows, &op_a[static_cast<std::size_t>(p * m + row)],
                       op_b[static_cast<std::size_t>(col * k + p)], &value_[at], &magnitude_[at],
                       &chain_[at]);
          }
        }
      }
    }
    // From the sums over k to the elements, given what C was.
    const double alpha = multiplies ? problem.alpha : 0.0f;
    for (std::int64_t col = from; col < to; ++col) {
      for (std::int64_t row = 0; row < m; ++row) {
        const std::size_t at = index(row, col);
        if (!sums.empty()) {
          chain_[at] += sums[at];
        }
        const float old = problem.beta == 0.0f ? 0.0f : c[static_cast<std::size_t>(col * problem.ldc + row)];
        const float scaled = problem.beta * old;
        const double exactly_scaled = static_cast<double>(problem.beta) * old;
        value_[at] = alpha * value_[at] + exactly_scaled;
        magnitude_[at] = std::fabs(alpha) * magnitude_[at] + std::fabs(exactly_scaled);
        chain_[at] = !multiplies            ? scaled
                     : problem.beta == 0.0f ? problem.alpha * chain_[at]
                                            : fused(problem.alpha, chain_[at], scaled);
      }
    }
  });
}

Verdict Oracle::compare(std::span<const float> c) const {
  Verdict verdict;
  for (std::int64_t col = 0; col < problem_.n; ++col) {
    for (std::int64_t row = 0; row < problem_.m; ++row) {
      judge(row, col, c[static_cast<std::size_t>(col * problem_.ldc + row)], {row, col}, verdict);
    }
  }
  return verdict;
}

void Oracle::judge(std::int64_t row, std::int64_t col, float found, const Element& element,
                   Verdict& verdict) const {
  const std::size_t at = index(row, col);
  const double bound = 2.0 * std::sqrt(static_cast<double>(problem_.k)) + 4.0;
  const double units = this->units(row, col, found) / bound;
  const bool differs = !same(found, chain_[at]);
  ++verdict.computed;
  verdict.worst_error = std::max(verdict.worst_error, units);
  verdict.different_bits += differs;
  std::string& first = units > 1.0 ? verdict.first_fault : verdict.first_difference;
  if ((units > 1.0 || differs) && first.empty()) {
    first =
        name_of(element) + bench::format(" is %.9g", found) + bench::format(", expected %.9g", chain_[at]);
  }
}

double Oracle::units(std::int64_t row, std::int64_t col, float value) const {
  const std::size_t at = index(row, col);
  const double exact = value_[at];
  if (!std::isfinite(exact)) {
    return same(value, chain_[at]) ? 0.0 : std::numeric_limits<double>::infinity();
  }
  const double difference = std::fabs(value - exact);
  if (difference == 0.0) {
    return 0.0;
  }
  constexpr double unit_roundoff = 0x1p-24;
  const double units = difference / (unit_roundoff * magnitude_[at]);
  return std::isnan(units) ? std::numeric_limits<double>::infinity() : units;
}

}  // namespace duogemm
