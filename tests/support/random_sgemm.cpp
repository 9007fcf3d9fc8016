#include "random_sgemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "check/inputs.h"
#include "check/oracle.h"
#include "draw.h"
#include "problem/problem.h"

namespace duogemm::testing {
namespace {

class RandomSgemm : public Draw {
 public:
  using Draw::Draw;

  Sgemm request() {
    Sgemm r;
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
    r.level = one_of({Reproducibility::run_to_run, Reproducibility::everywhere});
    if (r.level == Reproducibility::run_to_run) {
      r.precision = one_of({Precision::fp32, Precision::bf16x6, Precision::f16x3});
    }
    return r;
  }

  // `count` matrices, all of the array NaN with a number, the matrices themselves filled on request; some
  // share one.
  Batch matrices(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t count, bool may_share,
                 bool fill) {
    const std::int64_t length = cols == 0 ? 0 : ld * (cols - 1) + rows;
    Batch batch;
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
      batch.data()[member * batch.stride + col * ld + i % rows] =
          static_cast<float>(between(-1000000, 1000000)) * 0x1p-20f;
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
      const std::int64_t at = member * now.stride + col * p.ldc;
      std::copy_n(before.data() + at, p.m, now.data() + at);
    }
  }
}

}  // namespace

void check_random_sgemm(
    std::uint32_t seed,
    const std::function<void(const Sgemm&, const Batch& a, const Batch& b, Batch& c)>& multiply) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomSgemm randomly(seed);
  Sgemm request = randomly.request();
  const auto [p, swapped] = to_column_major(request);
  Batch a = randomly.matrices(p.a_rows(), p.a_cols(), p.lda, p.batch, true, true);
  Batch b = randomly.matrices(p.b_rows(), p.b_cols(), p.ldb, p.batch, true, true);
  Batch c = randomly.matrices(p.m, p.n, p.ldc, p.batch, false, p.beta != 0.0f);
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
    const Oracle oracle(p, a.member(member), b.member(member), before[2].member(member));
    const Verdict comparison = oracle.compare(c.member(member));
    EXPECT_TRUE(comparison.ok() && (comparison.same_bits() || p.level == Reproducibility::run_to_run))
        << "m=" << p.m << " n=" << p.n << " k=" << p.k << " alpha=" << p.alpha << " beta=" << p.beta << ": "
        << comparison.fault();
  }
  restore_results(p, c, before[2]);
  expect_untouched(c, before[2]);
}

}  // namespace duogemm::testing
