// The call on host memory, on random problems: sizes from 0, layouts, transposes, leading dimensions,
// misaligned pointers, batches, scalars with NaN among them, on every device.
#include "duogemm/sgemm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "check/inputs.h"
#include "check/oracle.h"
#include "devices.h"
#include "draw.h"
#include "families/plan.h"
#include "plan/lower.h"
#include "problem/problem.h"
#include "random_sgemm.h"
#include "refusal.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

void check(Context& context, std::uint32_t seed) {
  check_random_sgemm(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
    context.sgemm(request, a.data(), b.data(), c.data());
  });
}

void check_narrow(Context& context, std::uint32_t seed) {
  check_random_narrow_sgemm(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
    context.sgemm(request, a.data(), b.data(), c.data());
  });
}

class SgemmOnHost : public ContextTest {};

TEST_P(SgemmOnHost, RandomProblems) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    check(*context_, seed);
  }
}

TEST_P(SgemmOnHost, RandomNarrowProblems) {
  for (std::uint32_t seed = 1000; seed < 1200; ++seed) {
    check_narrow(*context_, seed);
  }
}

TEST_P(SgemmOnHost, RandomBatchesByPointers) {
  const auto by_pointers = [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
    context_->sgemm_batched(request, a.list(a.array.data(), request.batch).data(),
                            b.list(b.array.data(), request.batch).data(),
                            c.list(c.array.data(), request.batch).data());
  };
  for (std::uint32_t seed = 2000; seed < 2300; ++seed) {
    check_random_sgemm(seed, by_pointers);
  }
  for (std::uint32_t seed = 2300; seed < 2400; ++seed) {
    check_random_narrow_sgemm(seed, by_pointers);
  }
}

// More members than work-groups are started for. Sums of small integers are exact in any order.
TEST_P(SgemmOnHost, LargeBatchesOfSmallProducts) {
  const Sgemm request{.m = 3,
                      .n = 2,
                      .k = 5,
                      .lda = 3,
                      .ldb = 5,
                      .ldc = 3,
                      .batch = 40'001,
                      .a_stride = 15,
                      .b_stride = 10,
                      .c_stride = 6};
  const auto count = static_cast<std::size_t>(request.batch);
  std::vector<float> a(15 * count), b(10 * count), c(6 * count, nan);
  const auto fill = [](std::vector<float>& values, std::size_t step) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i * step % 17) - 8.0f;
    }
  };
  fill(a, 7);
  fill(b, 5);
  context_->sgemm(request, a.data(), b.data(), c.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t member = i / 6, col = i % 6 / 3, row = i % 3;
    float sum = 0.0f;
    for (std::size_t k = 0; k < 5; ++k) {
      sum += a[15 * member + 3 * k + row] * b[10 * member + 5 * col + k];
    }
    wrong += c[i] != sum;
  }
  EXPECT_EQ(wrong, 0u) << "of " << c.size();
}

// Longer sums than a split, in whole ones and not, whatever else there is to C.
TEST_P(SgemmOnHost, LongSumsHaveTheOwedBits) {
  using Factors = std::pair<float, float>;
  constexpr std::array<Factors, 4> factors = {{{1.0f, 0.0f}, {1.0f, 1.0f}, {2.0f, 0.0f}, {0.7f, -0.5f}}};
  const std::span<const Factors> all = factors;
  std::size_t turn = 0;
  for (const auto& [m, n, k, gap] : {std::array<std::int64_t, 4>{1, 1, 9000, 3},
                                     {1, 7, 4097, 0},
                                     {1, 20, 8200, 2},
                                     {33, 9, 4097, 3},
                                     {20, 9, 8192, 3},
                                     {4, 30, 12'289, 0},
                                     {66, 3, 4200, 1}}) {
    for (const char* ops : {"NN", "TN", "NT", "TT"}) {
      for (const auto& [alpha, beta] : m == 1 ? all : all.subspan(turn++ % 4, 1)) {
        Problem p = problem_of(m, n, k, ops, gap);
        p.alpha = alpha;
        p.beta = beta;
        p.level = Reproducibility::everywhere;
        const HostProblem host = random_problem(p, Distribution::signed_unit, 5);
        std::vector<float> c = host.c;
        context_->sgemm(request_of(p), host.a.data(), host.b.data(), c.data());
        EXPECT_TRUE(Oracle(p, host.a, host.b, host.c).compare(c).exact())
            << m << " " << n << " " << k << " " << ops << " " << p.ldc << " " << alpha << " " << beta;
      }
    }
    ++turn;  // with other ops for the next sizes
  }
}

// The same where the members of a batch are listed, and share an A.
TEST_P(SgemmOnHost, LongSumsOfListedBatchesHaveTheOwedBits) {
  Problem p = problem_of(19, 5, 4100, "TN", 1);
  p.level = Reproducibility::everywhere;
  p.beta = 0.5f;
  const HostProblem one = random_problem(p, Distribution::signed_unit, 6);
  const HostProblem other = random_problem(p, Distribution::signed_unit, 7);
  std::vector<float> c[] = {one.c, other.c};
  const float* const a[] = {one.a.data(), one.a.data()};
  const float* const b[] = {one.b.data(), other.b.data()};
  float* const results[] = {c[0].data(), c[1].data()};
  Sgemm request = request_of(p);
  request.batch = 2;
  context_->sgemm_batched(request, a, b, results);
  EXPECT_TRUE(Oracle(p, one.a, one.b, one.c).compare(c[0]).exact());
  EXPECT_TRUE(Oracle(p, one.a, other.b, other.c).compare(c[1]).exact());
}

// Rounds once, where MinGW's std::fma rounds twice: a product of floats is exact.
float fused(float a, float b, float c) { return static_cast<float>(static_cast<long double>(a) * b + c); }

// The oracle by five lines.
TEST(Everywhere, SplitsAreAddedUpInAscendingOrder) {
  Problem p = Problem::packed(3, 2, 2 * 4096 + 100, 0.7f, 0.5f);
  p.level = Reproducibility::everywhere;
  const HostProblem host = random_problem(p, Distribution::signed_unit, 9);
  const Oracle oracle(p, host.a, host.b, host.c);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t col = 0; col < 2; ++col) {
      float sum = 0.0f;
      for (std::int64_t from = 0; from < p.k; from += 4096) {
        float chain = 0.0f;
        for (std::int64_t k = from; k < std::min(from + 4096, p.k); ++k) {
          chain = fused(host.a[static_cast<std::size_t>(k * 3 + row)],
                        host.b[static_cast<std::size_t>(col * p.k + k)], chain);
        }
        sum = from == 0 ? chain : sum + chain;
      }
      const float scaled = 0.5f * host.c[static_cast<std::size_t>(col * 3 + row)];
      EXPECT_EQ(oracle.expected(row, col), fused(0.7f, sum, scaled));
    }
  }
}

TEST_P(SgemmOnHost, NanAndInfinityStayInTheirRowAndColumn) {
  const Problem p = Problem::packed(70, 67, 35);
  HostProblem host = random_problem(p, Distribution::signed_unit, 3);
  host.a[12 * 70 + 69] = nan;       // A(69, 12)
  host.b[66 * 35 + 34] = infinity;  // B(34, 66)
  context_->sgemm(request_of(p), host.a.data(), host.b.data(), host.c.data());
  for (std::size_t i = 0; i < host.c.size(); ++i) {
    EXPECT_EQ(std::isfinite(host.c[i]), i % 70 != 69 && i / 70 != 66);
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

INSTANTIATE_TEST_SUITE_P(Devices, SgemmOnHost, ::testing::ValuesIn(test_devices()), device_name);

// Columns so far apart that their indices need more than 32 bits, and begin where slices of a buffer may.
class HugeSgemm : public ::testing::TestWithParam<DeviceName> {};

TEST_P(HugeSgemm, IndexesBeyond32Bits) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  constexpr std::int64_t n = 5, ld = 600'000'000 / 4096 * 4096;
  constexpr std::size_t bytes = sizeof(float) * ld * n, column_bytes = sizeof(float) * n;
  const DeviceInfo& info = device.device->info();
  if (info.memory_bytes < 4 * bytes || info.max_allocation_bytes < bytes) {
    GTEST_SKIP() << "needs " << 4 * bytes << " bytes of device memory";
  }
  const HostProblem host = random_problem(Problem::packed(n, n, n), Distribution::signed_unit, 9);
  Problem problem = host.problem;
  problem.lda = problem.ldb = problem.ldc = ld;
  const std::unique_ptr<Buffer> a = device.device->allocate(bytes), b = device.device->allocate(bytes),
                                c = device.device->allocate(bytes);
  const auto each_column = [&](const Buffer& matrix, const auto& copy) {
    for (std::size_t column = 0; column < n; ++column) {
      copy(*matrix.slice(sizeof(float) * ld * column, column_bytes), column * n);
    }
  };
  const auto write = [&](const Buffer& matrix, const std::vector<float>& from) {
    each_column(matrix, [&](const Buffer& column, std::size_t at) {
      device.queue->write(column, &from[at], column_bytes);
    });
  };
  write(*a, host.a);
  write(*b, host.b);
  for (const Plan& kernels :
       {plan_sgemm(problem, info), plan_sgemm(find_kernel("general"), {}, problem, info)}) {
    SCOPED_TRACE(describe(kernels));
    write(*c, host.c);
    const SelfContainedPlan plan(kernels, *device.device, *device.programs);
    plan.enqueue(*device.queue, {{{a.get()}, {b.get()}, {c.get()}}});
    std::vector<float> result(n * n);
    each_column(*c, [&](const Buffer& column, std::size_t at) {
      device.queue->read(column, &result[at], column_bytes);
    });
    EXPECT_TRUE(Oracle(host.problem, host.a, host.b, host.c).compare(result).exact());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, HugeSgemm, ::testing::ValuesIn(test_devices()), device_name);

TEST(Sgemm, NamesEachWrongArgument) {
  const std::pair<void (*)(Sgemm&), const char*> wrong[] = {
      {[](Sgemm& r) { r.m = -1; }, "m is -1; it must be at least 0"},
      {[](Sgemm& r) { r.n = -1; }, "n is -1; it must be at least 0"},
      {[](Sgemm& r) { r.k = -1; }, "k is -1; it must be at least 0"},
      {[](Sgemm& r) { r.lda = 3; }, "lda is 3; it must be at least 4"},
      {[](Sgemm& r) {
         r.a_op = Transpose::yes;
         r.lda = 1;
       },
       "lda is 1; it must be at least 2"},
      {[](Sgemm& r) {
         r.layout = Layout::row_major;
         r.lda = 1;
       },
       "lda is 1; it must be at least 2"},
      {[](Sgemm& r) { r.m = r.lda = 0; }, "lda is 0; it must be at least 1"},
      {[](Sgemm& r) { r.ldb = 1; }, "ldb is 1; it must be at least 2"},
      {[](Sgemm& r) { r.ldc = 3; }, "ldc is 3; it must be at least 4"},
      {[](Sgemm& r) { r.n = std::int64_t{1} << 60; }, "c reaches beyond 2^60 elements"},
      {[](Sgemm& r) { r.batch = -1; }, "batch is -1; it must be at least 0"},
      {[](Sgemm& r) { r.a_stride = -1; }, "a_stride is -1; it must be at least 0"},
      {[](Sgemm& r) { r.batch = 2; }, "c_stride is 0; it must be at least 1"},
      {[](Sgemm& r) {
         r.level = Reproducibility::everywhere;
         r.precision = Precision::bf16x6;
       },
       "precision is bf16x6; it must be fp32 at the level everywhere"},
      {[](Sgemm& r) {
         r.batch = 2;
         r.c_stride = 11;
       },  // of the 12 of a result
       "c_stride is 11: the results of the batch would overlap"},
      {[](Sgemm& r) {
         r = {.layout = Layout::row_major,
              .m = 4,
              .n = 3,
              .k = 2,
              .lda = 2,
              .ldb = 3,
              .ldc = 6,
              .batch = 2,
              .c_stride = 2};  // 3 would put the results side by side
       },
       "c_stride is 2: the results of the batch would overlap"},
  };
  for (const auto& [spoil, message] : wrong) {
    Sgemm request{.m = 4, .n = 3, .k = 2, .lda = 4, .ldb = 2, .ldc = 4};
    spoil(request);
    EXPECT_EQ(refusal([&] { to_column_major(request); }), message);
  }
}

// Against what every element of every result says.
TEST(Overlap, IsFoundAmongAllLayouts) {
  const auto overlap = [](std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                          std::int64_t batch) {
    std::set<std::int64_t> taken;
    for (std::int64_t i = 0; i < rows * cols * batch; ++i) {
      taken.insert(i % rows + i / rows % cols * ld + i / (rows * cols) * stride);
    }
    return taken.size() < static_cast<std::size_t>(rows * cols * batch);
  };
  for (std::int64_t rows = 1; rows <= 5; ++rows) {
    for (std::int64_t cols = 1; cols <= 5; ++cols) {
      for (std::int64_t ld = rows; ld <= 17; ++ld) {
        for (std::int64_t stride = 1; stride <= 40; ++stride) {
          for (const std::int64_t batch : {1, 2, 3, 7}) {
            ASSERT_EQ(members_overlap(rows, cols, ld, stride, batch), overlap(rows, cols, ld, stride, batch))
                << rows << " x " << cols << " ld " << ld << " stride " << stride << " batch " << batch;
          }
        }
      }
    }
  }
}

// Such numbers must not be counted through.
TEST(Overlap, OfLargeBatchesIsFoundAtOnce) {
  constexpr std::int64_t large = std::int64_t{1} << 29;
  EXPECT_FALSE(members_overlap(1, large, large, 1, large));          // side by side
  EXPECT_TRUE(members_overlap(2, large, large, 1, large));           // and each reaches into the next
  EXPECT_FALSE(members_overlap(1, large, large, large * large, 2));  // one after the other
  EXPECT_FALSE(members_overlap(1, large, large - 1, large, large));
  EXPECT_TRUE(members_overlap(3, large, large + 1, 2 * large + 5, large));  // the member of number 178956971
}

// Their strides mean nothing.
TEST(Overlap, IsNoMatterOfBatchesByLists) {
  Sgemm request{.m = 4, .n = 4, .k = 4, .lda = 4, .ldb = 4, .ldc = 4, .batch = 3, .c_stride = -5};
  EXPECT_EQ(to_column_major(request, BatchBy::addresses).problem.batch_by, BatchBy::addresses);
}

// Their results side by side, as several heads of attention have them.
TEST_P(SgemmOnHost, BatchesSideBySide) {
  constexpr std::int64_t m = 3, n = 2, batch = 4;
  const float a[m] = {1, 2, 3};
  const float b[n] = {10, 100};
  float c[m * batch * n];
  context_->sgemm(
      {.m = m, .n = n, .k = 1, .lda = m, .ldb = 1, .ldc = m * batch, .batch = batch, .c_stride = m}, a, b, c);
  for (std::int64_t i = 0; i < m * batch * n; ++i) {
    EXPECT_EQ(c[i], a[i % m] * b[i / (m * batch)]) << i;
  }
}

TEST(ContextChoice, NamesWhatWasAskedFor) {
  for (const char* name : {"vulkan", "opencl:", "opencl:x", "opencl:99", "cuda:99", "cuda:-1"}) {
    const std::string said = refusal([&] { Context context(name); });
    EXPECT_NE(said.find(name), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace duogemm::testing
