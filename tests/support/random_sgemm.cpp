#include "random_sgemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "check/inputs.h"
#include "check/oracle.h"
#include "draw.h"
#include "narrow.h"
#include "problem/precision.h"
#include "problem/problem.h"

namespace duogemm::testing {
namespace {

class RandomSgemm : public Draw {
 public:
  using Draw::Draw;

  Sgemm request(bool narrow) {
    Sgemm r;
    if (narrow) {
      const auto type = [&] { return one_of({ElementType::fp32, ElementType::bf16, ElementType::fp16}); };
      r.a_type = type();
      r.b_type = type();
      r.c_type = one_of({ElementType::fp32, type()});
    }
    r.layout = one_of({Layout::column_major, Layout::row_major});
    r.a_op = one_of({Transpose::no, Transpose::yes});
    r.b_op = one_of({Transpose::no, Transpose::yes});
    r.m = size();
    r.n = size();
    r.k = size();
    r.alpha = one_of({1.0f, 1.0f, 0.0f, -1.0f, 2.5f, 0.7f, nan});
    r.beta = one_of({0.0f, 0.0f, 1.0f, -1.0f, 2.5f, nan});
    const bool by_rows = r.layout == Layout::row_major;
    r.lda = leading(by_rows == (r.a_op == Transpose::no) ? r.k : r.m);
    r.ldb = leading(by_rows == (r.b_op == Transpose::no) ? r.n : r.k);
    r.ldc = leading(by_rows ? r.n : r.m);
    r.batch = one_of<std::int64_t>({1, 1, 1, 3});
    r.c_stride = std::int64_t{1} << 40;  // until the matrices are laid out
    r.level = r.c_type != ElementType::fp32
                  ? Reproducibility::everywhere
                  : one_of({Reproducibility::run_to_run, Reproducibility::everywhere});
    if (r.level == Reproducibility::run_to_run) {
      r.precision = one_of({Precision::fp32, Precision::bf16x6, Precision::f16x3});
    }
    return r;
  }

  // `count` matrices, all of the array NaN with a number, the matrices themselves filled on request; some
  // share one.
  Batch matrices(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t count, bool may_share,
                 bool fill, ElementType type) {
    const std::int64_t length = cols == 0 ? 0 : ld * (cols - 1) + rows;
    Batch batch;
    batch.type = type;
    batch.begin = static_cast<std::size_t>(between(1, 9));
    batch.stride = may_share && between(0, 3) == 0 ? 0 : length + between(1, 5);
    batch.length = static_cast<std::size_t>(length);
    batch.array.resize(batch.begin + static_cast<std::size_t>(batch.stride * (count - 1) + length) + 8);
    for (std::size_t i = 0; i < batch.array.size(); ++i) {
      batch.array[i] = tagged_nan(7, i);
    }
    for (std::int64_t i = 0; fill && i < count * cols * rows; ++i) {
      const std::int64_t member = i / (cols * rows);
      const std::int64_t col = i / rows % cols;
      const float value = static_cast<float>(between(-1000000, 1000000)) * 0x1p-20f;
      float* const matrix = batch.member(batch.array.data(), member);
      const std::int64_t at = col * ld + i % rows;
      if (type == ElementType::fp32) {
        matrix[at] = value;
      } else {
        const std::uint16_t bits = nearest_bits(value, type);
        std::memcpy(reinterpret_cast<char*>(matrix) + 2 * at, &bits, sizeof bits);
      }
    }
    return batch;
  }

 private:
  std::int64_t size() {
    return one_of<std::int64_t>({0, 1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, between(1, 140)});
  }
  std::int64_t leading(std::int64_t least) { return std::max<std::int64_t>(least, 1) + between(0, 3); }
};

void expect_untouched(const Batch& now, const Batch& before) {
  EXPECT_EQ(std::memcmp(now.array.data(), before.array.data(), sizeof(float) * now.array.size()), 0);
}

// Puts back what was inside the results, so that only what lies outside them is left to compare.
void restore_results(const Problem& p, Batch& now, const Batch& before) {
  for (std::int64_t member = 0; member < p.batch; ++member) {
    for (std::int64_t col = 0; col < p.n; ++col) {
      const auto column = [&](const Batch& batch) {
        return reinterpret_cast<const char*>(batch.member(batch.array.data(), member)) +
               static_cast<std::size_t>(col * p.ldc) * bytes_of(p.c_type);
      };
      std::memcpy(const_cast<char*>(column(now)), column(before),
                  static_cast<std::size_t>(p.m) * bytes_of(p.c_type));
    }
  }
}

bool is_rounded(const Oracle& oracle, const Problem& p, const std::vector<float>& c) {
  for (std::int64_t col = 0; col < p.n; ++col) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      const float found = c[static_cast<std::size_t>(col * p.ldc + row)];
      const float owed = value_of(nearest_bits(oracle.expected(row, col), p.c_type), p.c_type);
      if (found != owed && !(std::isnan(found) && std::isnan(owed))) {
        return false;
      }
    }
  }
  return true;
}

using Multiply = std::function<void(const Sgemm&, const Batch& a, const Batch& b, Batch& c)>;

void check(std::uint32_t seed, bool narrow, const Multiply& multiply) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomSgemm randomly(seed);
  Sgemm request = randomly.request(narrow);
  const auto [p, swapped] = to_column_major(request);
  Batch a = randomly.matrices(p.a_rows(), p.a_cols(), p.lda, p.batch, true, true, p.a_type);
  Batch b = randomly.matrices(p.b_rows(), p.b_cols(), p.ldb, p.batch, true, true, p.b_type);
  Batch c = randomly.matrices(p.m, p.n, p.ldc, p.batch, false, p.beta != 0.0f, p.c_type);
  request.a_stride = swapped ? b.stride : a.stride;
  request.b_stride = swapped ? a.stride : b.stride;
  request.c_stride = c.stride;
  const Batch before[] = {a, b, c};
  multiply(request, swapped ? b : a, swapped ? a : b, c);
  Batch again = before[2];
  multiply(request, swapped ? b : a, swapped ? a : b, again);
  expect_untouched(again, c);
  expect_untouched(a, before[0]);
  expect_untouched(b, before[1]);
  for (std::int64_t member = 0; member < p.batch; ++member) {
    const Oracle oracle(p, a.values(member), b.values(member), before[2].values(member));
    const std::vector<float> values = c.values(member);
    std::ostringstream kind;
    kind << "m=" << p.m << " n=" << p.n << " k=" << p.k << " alpha=" << p.alpha << " beta=" << p.beta
         << " in " << to_text(p.precision) << " of " << to_text(p.a_type) << " and " << to_text(p.b_type)
         << " into " << to_text(p.c_type);
    if (p.c_type != ElementType::fp32) {
      EXPECT_TRUE(is_rounded(oracle, p, values)) << kind.str();
      continue;
    }
    const Verdict comparison = oracle.compare(values);
    EXPECT_TRUE(comparison.ok() && (comparison.same_bits() || p.level == Reproducibility::run_to_run))
        << kind.str() << ": " << comparison.fault();
  }
  restore_results(p, c, before[2]);
  expect_untouched(c, before[2]);
}

}  // namespace

std::vector<float> Batch::values(std::int64_t i) const {
  std::vector<float> all(length);
  const float* const matrix = member(array.data(), i);
  for (std::size_t at = 0; at < length; ++at) {
    if (type == ElementType::fp32) {
      all[at] = matrix[at];
    } else {
      std::uint16_t bits;
      std::memcpy(&bits, reinterpret_cast<const char*>(matrix) + 2 * at, sizeof bits);
      all[at] = value_of(bits, type);
    }
  }
  return all;
}

void check_random_sgemm(std::uint32_t seed, const Multiply& multiply) { check(seed, false, multiply); }

void check_random_narrow_sgemm(std::uint32_t seed, const Multiply& multiply) { check(seed, true, multiply); }

}  // namespace duogemm::testing
