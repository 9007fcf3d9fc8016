// The call on host memory, on random problems: sizes from 0, layouts, transposes, leading dimensions,
// misaligned pointers, batches, scalars with NaN among them, on every device.
#include "duogemm/sgemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <thread>

#include "host_problem.h"
#include "oracle.h"
#include "problem.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::unique_ptr<Context> make_context(const DeviceName& name) {
  return std::make_unique<Context>(std::string(name.backend->name()) + ":" + std::to_string(name.index));
}

// Matrices of a batch within one array, with more around them.
struct Batch {
  std::vector<float> array;
  std::size_t begin;  // of the first
  std::int64_t stride;
  std::size_t length;  // of one

  const float* data() const { return array.data() + begin; }
  float* data() { return array.data() + begin; }
  std::span<const float> member(std::int64_t i) const {
    return std::span(array).subspan(begin + static_cast<std::size_t>(i * stride), length);
  }
};

class Randomly {
 public:
  explicit Randomly(std::uint32_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint32_t>(high - low + 1));
  }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }

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
    r.c_stride = 1;  // until the matrices are laid out
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

  std::mt19937 engine_;
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

// One random problem, the seed of which a failure names.
void check(Context& context, std::uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Randomly randomly(seed);
  Sgemm request = randomly.request();
  const auto [p, exchanged] = to_column_major(request);
  Batch a = randomly.matrices(p.a_rows(), p.a_cols(), p.lda, p.batch, true, true);
  Batch b = randomly.matrices(p.b_rows(), p.b_cols(), p.ldb, p.batch, true, true);
  Batch c = randomly.matrices(p.m, p.n, p.ldc, p.batch, false, p.beta != 0.0f);
  request.a_stride = exchanged ? b.stride : a.stride;
  request.b_stride = exchanged ? a.stride : b.stride;
  request.c_stride = c.stride;
  const Batch before[] = {a, b, c};
  context.sgemm(request, (exchanged ? b : a).data(), (exchanged ? a : b).data(), c.data());
  expect_untouched(a, before[0]);
  expect_untouched(b, before[1]);
  for (std::int64_t member = 0; member < p.batch; ++member) {
    const Oracle oracle(p, a.member(member), b.member(member), before[2].member(member));
    const Comparison comparison = oracle.compare(c.member(member));
    EXPECT_TRUE(comparison.ok()) << "m=" << p.m << " n=" << p.n << " k=" << p.k << " alpha=" << p.alpha
                                 << " beta=" << p.beta << ": " << comparison.first_fault;
  }
  restore_results(p, c, before[2]);
  expect_untouched(c, before[2]);
}

class SgemmOnHost : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (GetParam().index >= GetParam().backend->devices().size()) {
      GTEST_SKIP() << "no " << GetParam().backend->name() << " device was found";
    }
    context_ = make_context(GetParam());
  }

  std::unique_ptr<Context> context_;
};

TEST_P(SgemmOnHost, RandomProblems) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    check(*context_, seed);
  }
}

TEST_P(SgemmOnHost, NanAndInfinityStayInTheirRowAndColumn) {
  const Problem p = Problem::packed(70, 67, 35);
  HostProblem host = random_problem(p, Distribution::signed_unit, 3);
  host.a[12 * 70 + 69] = nan;                                     // A(69, 12)
  host.b[66 * 35 + 34] = std::numeric_limits<float>::infinity();  // B(34, 66)
  const Sgemm request{.m = p.m, .n = p.n, .k = p.k, .lda = p.lda, .ldb = p.ldb, .ldc = p.ldc};
  context_->sgemm(request, host.a.data(), host.b.data(), host.c.data());
  for (std::size_t i = 0; i < host.c.size(); ++i) {
    EXPECT_EQ(std::isfinite(host.c[i]), i % 70 != 69 && i / 70 != 66);
  }
}

// A sum that ends in -0 (here by underflow) stays -0 at the edge of a tile.
TEST_P(SgemmOnHost, EdgesKeepMinusZero) {
  const std::vector<float> a(33 * 5, -0x1p-100f);
  const std::vector<float> b(5 * 17, 0x1p-100f);
  std::vector<float> c(33 * 17, nan);
  Sgemm request;
  request.m = request.lda = request.ldc = 33;
  request.n = 17;
  request.k = request.ldb = 5;
  context_->sgemm(request, a.data(), b.data(), c.data());
  for (float value : c) {
    EXPECT_TRUE(value == 0.0f && std::signbit(value));
  }
}

TEST_P(SgemmOnHost, EightThreadsOnOneContext) {
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 20; ++i) {
        check(*context_, 5000 + 100 * t + i);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SgemmOnHost, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

// Each wrong argument alone.
struct Wrong {
  const char* name;
  void (*spoil)(Sgemm&);
  const char* message;
};

class WrongArgument : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongArgument, IsNamed) {
  Sgemm request;
  request.m = request.lda = request.ldc = 4;
  request.n = 3;
  request.k = request.ldb = 2;
  GetParam().spoil(request);
  try {
    to_column_major(request);
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_argument);
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

void transpose_a(Sgemm& r) {
  r.a_op = Transpose::yes;
  r.lda = 1;
}
void by_rows(Sgemm& r) {
  r.layout = Layout::row_major;
  r.lda = 1;
}
void no_rows(Sgemm& r) {
  r.m = 0;
  r.lda = 0;
}

INSTANTIATE_TEST_SUITE_P(
    Sgemm, WrongArgument,
    ::testing::Values(
        Wrong{"m", [](Sgemm& r) { r.m = -1; }, "m is -1; it must be at least 0"},
        Wrong{"n", [](Sgemm& r) { r.n = -1; }, "n is -1; it must be at least 0"},
        Wrong{"k", [](Sgemm& r) { r.k = -1; }, "k is -1; it must be at least 0"},
        Wrong{"lda", [](Sgemm& r) { r.lda = 3; }, "lda is 3; it must be at least 4"},
        Wrong{"lda_transposed", transpose_a, "lda is 1; it must be at least 2"},
        Wrong{"lda_row_major", by_rows, "lda is 1; it must be at least 2"},
        Wrong{"lda_zero", no_rows, "lda is 0; it must be at least 1"},
        Wrong{"ldb", [](Sgemm& r) { r.ldb = 1; }, "ldb is 1; it must be at least 2"},
        Wrong{"ldc", [](Sgemm& r) { r.ldc = 3; }, "ldc is 3; it must be at least 4"},
        Wrong{"batch", [](Sgemm& r) { r.batch = -1; }, "batch is -1; it must be at least 0"},
        Wrong{"stride", [](Sgemm& r) { r.a_stride = -1; }, "a_stride is -1; it must be at least 0"},
        Wrong{"c_stride", [](Sgemm& r) { r.batch = 2; }, "c_stride is 0; it must be at least 1"}),
    [](const auto& info) { return info.param.name; });

TEST(ContextChoice, NamesWhatWasAskedFor) {
  for (const char* name : {"vulkan", "opencl:", "opencl:x", "opencl:99", "cuda:99", "cuda:-1"}) {
    try {
      Context context(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace duogemm::testing
