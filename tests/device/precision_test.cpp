// Each precision through the runtime of each device: within the error bound whatever the matrices, exact
// where sums are, the same bits again, in every form of the call. Where a device has no kernel but FP32's,
// these run, and must pass too.
#include "problem/precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/judge.h"
#include "ladder/ladder.h"
#include "plan/lower.h"
#include "runtime/runtime.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

// Large enough for tiles of every kernel, and no multiple of any.
constexpr std::int64_t rows = 260, columns = 135, length = 517;

// The plan runs, or kernels for tensor cores do whatever the size.
struct Way {
  const char* name;
  const char* force;  // as DUOGEMM_FORCE has it
};
constexpr Way ways[] = {{"planned", ""},
                        {"on_tensor_cores", "tensor:TSM=256"},
                        {"on_tensor_cores_in_slices", "tensor:TSM=128,slices=3"},
                        {"on_tensor_cores_of_few_columns", "tensor:TSM=128,TSN=64,slices=2"},
                        {"by_mma_sync", "tensor_mma"},
                        {"by_mma_sync_in_slices", "tensor_mma:TSN=128,RESIDENT=1,slices=3"},
                        {"by_mma_sync_in_small_tiles", "tensor_mma:TSM=64,WARP_N=32,slices=2"},
                        {"by_mma_sync_in_stages", "tensor_mma:TSM=64,TSN=128,STAGES=3,RESIDENT=1"}};

class Precisions : public ::testing::TestWithParam<std::tuple<DeviceName, Way>> {
 protected:
  void SetUp() override {
    const auto& [name, way] = GetParam();
    if (const std::string missing = name.missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    runtime_ = std::make_unique<Runtime>(name.backend->open(name.index, {}));
    queue_ = device().create_queue();
    if (*way.force != '\0') {
      const ScheduleRequest request = parse_schedule(way.force);
      if (const auto reason =
              unsupported_reason(*request.spec, resolve(*request.spec, request.tunables), device().info())) {
        GTEST_SKIP() << device().info().name << ": the kernel needs " << *reason;
      }
      setenv("DUOGEMM_FORCE", way.force, 1);
    }
  }
  void TearDown() override { unsetenv("DUOGEMM_FORCE"); }

  Device& device() { return runtime_->device(); }

  // Packed, with C that must not be read.
  static HostProblem packed(std::uint32_t seed = 1) {
    return random_problem(Problem::packed(rows, columns, length), Distribution::signed_unit, seed);
  }

  std::string plan_of(const Problem& problem) { return describe(plan_sgemm(problem, device().info())); }

  // Twice, which must give the same bits.
  Verdict multiply(const HostProblem& host, const Judge& judge, Precision precision) {
    Problem problem = host.problem;
    problem.precision = precision;
    GuardedOperands operands(host, device(), *queue_);
    runtime_->enqueue(problem, *queue_, operands.offset_operands());
    Verdict verdict = judge.look_at_all(operands, *queue_);
    operands.restore_c(*queue_);
    runtime_->enqueue(problem, *queue_, operands.offset_operands());
    EXPECT_EQ(judge.look_at_c(operands, *queue_).fingerprint, verdict.fingerprint);
    return verdict;
  }

  // In every precision. `most`: the error that is allowed, in units of the bound.
  void check(const HostProblem& host, bool is_exact, double most = 1.0) {
    const Judge judge(host);
    for (const Precision precision : precisions) {
      Problem problem = host.problem;
      problem.precision = precision;
      SCOPED_TRACE(std::string(to_text(precision)) + ", " + plan_of(problem));
      const Verdict verdict = multiply(host, judge, precision);
      EXPECT_TRUE(verdict.worst_error <= most && verdict.not_finite == 0 && verdict.overwritten == 0 &&
                  (!is_exact || verdict.same_bits()))
          << verdict.worst_error << " bounds: " << verdict.fault();
    }
  }

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Queue> queue_;
};

TEST_P(Precisions, KeepTheBoundForEveryKindOfMatrix) {
  for (const InputClass& input : input_classes()) {
    SCOPED_TRACE(input.name);
    HostProblem host = packed();
    host.a = make_a(input, rows, length);
    host.b = make_b(input, length, columns);
    // All roundings of a chain of constants go the same way, here a little beyond the bound.
    check(host, input.exact, input.name == "constants" ? 1.1 : 1.0);
  }
}

// Sums that are never promoted drift away.
TEST_P(Precisions, KeepTheBoundOverLongSums) {
  const InputClass& one_sign = *std::ranges::find(input_classes(), "unit", &InputClass::name);
  constexpr std::int64_t few = 65, long_k = 8200;
  HostProblem host = random_problem(Problem::packed(few, few, long_k), Distribution::signed_unit, 1);
  host.a = make_a(one_sign, few, long_k);
  host.b = make_b(one_sign, long_k, few);
  check(host, false);
}

// Rows whose sizes are so far apart that a block of both cannot be scaled without loss.
TEST_P(Precisions, KeepTheBoundOfTinyRowsBesideHugeOnes) {
  HostProblem host = packed(7);
  for (std::size_t i = 0; i < host.a.size(); ++i) {
    host.a[i] = std::ldexp(host.a[i], i % 2 == 0 ? 45 : -125);  // the rows are an even number
  }
  for (float& value : host.b) {
    value = std::ldexp(value, 20);
  }
  check(host, false);
}

TEST_P(Precisions, KeepTheBoundInEveryFormOfTheCall) {
  std::size_t number = 0;
  for (const Problem& problem : library_problems({{129, 257, 65}, {300, 515, 40}})) {
    SCOPED_TRACE(describe(problem));
    const HostProblem host = fill(problem, number);
    check(host, number % 4 == 0);  // whole numbers
    ++number;
  }
}

// They spread over the row of a NaN in A and the column of an infinity in B; all else is right.
TEST_P(Precisions, SpreadNoNanOrInfinityFurtherThanFp32) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  HostProblem host = packed(3);
  host.a[12 * rows + rows - 1] = std::numeric_limits<float>::quiet_NaN();
  host.a[length / 2 * rows + 7] = -infinity;
  host.b[(columns - 1) * length + length - 1] = infinity;
  host.b[3 * length] = std::numeric_limits<float>::quiet_NaN();
  check(host, false);
}

// One number in a row that is out of all proportion: neither its row nor its neighbours may suffer.
TEST_P(Precisions, KeepTheBoundBesideAnOutlier) {
  for (const float outlier : {0x1p120f, 0x1p60f, 0x1p-60f, 0x1p-140f, 0.0f}) {
    SCOPED_TRACE(outlier);
    HostProblem host = packed(4);
    host.a[100 * rows + 9] = outlier;
    host.b[20 * length + 33] = outlier == 0x1p120f ? 1.0f : outlier;
    check(host, false);
  }
}

// At the level batch_invariant, parts of a product have the bits of the whole: some rows of A and columns of
// B by themselves, of one member of the batch, whatever is in others.
TEST_P(Precisions, KeepTheBitsOfPartsOfAProduct) {
  constexpr std::int64_t m = 700, n = 300, batch = 2;
  for (const std::int64_t k : {std::int64_t{300}, everywhere_split + 40}) {
    for (const Precision precision : precisions) {
      Problem problem = Problem::packed(m, n, k, 0.75f, 0.0f);
      problem.batch = batch;
      problem.a_stride = m * k;
      problem.b_stride = k * n;
      problem.c_stride = m * n;
      problem.precision = precision;
      problem.level = Reproducibility::batch_invariant;
      HostProblem host = random_problem(problem, Distribution::signed_unit, 5);
      for (std::size_t i = 0; i < host.a.size(); ++i) {
        host.a[i] = std::ldexp(host.a[i], static_cast<int>(i % m) % 40 - 20);  // of each row alike
      }
      host.a[699] = std::numeric_limits<float>::infinity();
      host.b[static_cast<std::size_t>(200 * k + 7)] = 0x1p100f;
      const auto in_memory = [&](const std::vector<float>& values) {
        auto buffer = device().allocate(sizeof(float) * values.size());
        queue_->write(*buffer, values.data(), sizeof(float) * values.size());
        return buffer;
      };
      const auto a = in_memory(host.a), b = in_memory(host.b), c = in_memory(host.c);
      const auto product = [&](const Problem& part, std::int64_t a_at, std::int64_t b_at) {
        runtime_->enqueue(part, *queue_, {{{a.get(), a_at}, {b.get(), b_at}, {c.get(), 0}}});
        std::vector<float> found(host.c.size());
        queue_->read(*c, found.data(), sizeof(float) * found.size());
        return found;
      };
      SCOPED_TRACE(std::string(to_text(precision)) + ", " + plan_of(problem));
      const std::vector<float> whole = product(problem, 0, 0);
      for (const auto& [rows_of_part, cols_of_part] :
           {std::pair<std::int64_t, std::int64_t>(1, n), {3, 2}, {130, 129}, {m - 5, 7}}) {
        Problem part = problem;
        part.m = rows_of_part;
        part.n = cols_of_part;
        part.batch = 1;
        const std::int64_t row = m - rows_of_part - 5 + 5 * (rows_of_part == 3), col = n - cols_of_part;
        part.a_aligned = part.b_aligned = part.c_aligned = false;
        const std::vector<float> found =
            product(part, problem.a_stride + row, problem.b_stride + col * problem.ldb);
        std::int64_t other = 0;
        for (std::int64_t j = 0; j < cols_of_part; ++j) {
          for (std::int64_t i = 0; i < rows_of_part; ++i) {
            const float is = found[static_cast<std::size_t>(j * problem.ldc + i)];
            const float owed =
                whole[static_cast<std::size_t>(problem.c_stride + (col + j) * problem.ldc + row + i)];
            other += is != owed && (is == is || owed == owed) ? 1 : 0;
          }
        }
        EXPECT_EQ(other, 0) << rows_of_part << " x " << cols_of_part;
      }
      // Its neighbours are infinite.
      Problem part = problem;
      part.m = 3;
      part.batch = 1;
      const std::vector<float> found = product(part, m - 4, 0);
      for (std::int64_t j = 0; j < n; ++j) {
        EXPECT_EQ(found[static_cast<std::size_t>(j * problem.ldc)],
                  whole[static_cast<std::size_t>(j * problem.ldc + m - 4)])
            << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Precisions,
                         ::testing::Combine(::testing::ValuesIn(test_devices()), ::testing::ValuesIn(ways)),
                         [](const auto& info) {
                           return std::get<0>(info.param).text() + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace duogemm::testing
