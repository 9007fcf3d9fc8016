// The kernels for tensor cores of compute capability 8.0, run work-item by work-item on the host (see
// emulation/): as planned for a device that is not there, for all edges of tiles. Needs no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>

#include "emulation/kernels.h"
#include "families/tensor.h"
#include "plan/lower.h"

namespace duogemm {
namespace {

DeviceInfo ampere() {
  DeviceInfo info;
  info.backend = "cuda";
  info.kind = DeviceKind::gpu;
  info.name = "A device of compute capability 8.0";
  info.compute_capability = 80;
  info.compute_units = 3;  // so that work-groups have several tiles
  info.local_bytes = 48 * 1024;
  info.dynamic_local_bytes = dynamic_local_bytes(90);  // for every setting below
  info.max_work_group = 1024;
  info.max_groups = {1u << 31, 65535, 65535};
  return info;
}

// A kernel with some tunables, by the build's name.
struct Setting {
  const char* split;
  const char* product;
  Precision precision;
  Tunables tunables;
};
const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {"split_f16", "mma_f16", Precision::f16x3, {}},
      {"split_f16",
       "mma_f16_small",
       Precision::f16x3,
       {{"TSM", 64}, {"WARP_N", 32}, {"STAGES", 3}, {"RESIDENT", 1}}},
      {"split_bf16", "mma_bf16", Precision::bf16x6, {}},
      {"split_bf16", "mma_bf16_large", Precision::bf16x6, {{"TSN", 128}, {"RESIDENT", 1}}},
  };
  return all;
}

struct Matrices {
  std::vector<float> a, b, c;
};

Matrices random_matrices(const Problem& p) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-1.0f, 1.0f);
  const auto fill = [&](std::int64_t elements) {
    std::vector<float> values(static_cast<std::size_t>(elements));
    std::generate(values.begin(), values.end(), [&] { return value(random); });
    return values;
  };
  return {fill(p.a_elements() + (p.batch - 1) * p.a_stride),
          fill(p.b_elements() + (p.batch - 1) * p.b_stride),
          fill(p.c_elements() + (p.batch - 1) * p.c_stride)};
}

// The memory of one call: its operands, and its plan's workspaces.
class Memory {
 public:
  Memory(const Plan& plan, Matrices& matrices) : matrices_(matrices) {
    for (const std::size_t bytes : plan.workspace_bytes) {
      workspaces_.emplace_back(bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
    }
  }

  void* of(Operand operand) {
    switch (operand.slot) {
      case 0:
        return matrices_.a.data();
      case 1:
        return matrices_.b.data();
      case 2:
        return matrices_.c.data();
      case 3:
      case 4:
      case 5:
        return nullptr;  // there are no tables
      default:
        return workspaces_.at(static_cast<std::size_t>(operand.slot - first_workspace)).data();
    }
  }

 private:
  Matrices& matrices_;
  std::vector<std::vector<float>> workspaces_;
};

// Runs one step, whose matrices begin where their memory does.
void run(const Step& step, const Scalars& scalars, Memory& memory, const char* name) {
  std::vector<void*> pointers;
  StructArgument numbers;
  for (const StepArgument& argument : step.arguments) {
    if (const auto* operand = std::get_if<Operand>(&argument)) {
      pointers.push_back(memory.of(*operand));
    } else {
      numbers = std::get<StructArgument>(argument);
    }
  }
  for (const auto& [at, given] : numbers.members) {
    if (const auto* scalar = std::get_if<ScalarOf>(&given)) {
      const float factor = *scalar == ScalarOf::alpha ? scalars.alpha : scalars.beta;
      std::memcpy(numbers.values.data() + at, &factor, sizeof factor);
    }
  }
  emulation::kernels().at(name)(step.geometry.groups, pointers, numbers.values.data());
}

enum class Steps { split_and_multiply, all };

Matrices multiplied(const Setting& setting, const Problem& problem, std::int64_t splits, Matrices matrices,
                    Steps steps = Steps::split_and_multiply) {
  const Schedule schedule =
      schedule_for({&find_kernel("tensor_mma"), setting.tunables, splits}, problem, ampere());
  const Plan plan = lower(schedule, problem, ampere());
  Memory memory(plan, matrices);
  run(plan.steps.at(0), plan.scalars, memory, setting.split);
  run(plan.steps.at(1), plan.scalars, memory, setting.product);
  if (steps == Steps::all) {
    run(plan.steps.at(2), plan.scalars, memory, "fixup");
  }
  return matrices;
}

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The largest error of a row's or column's stretch of C, in units of the bound (docs/precision.md).
double error_of(const Problem& p, const Matrices& before, const std::vector<float>& c, std::int64_t member,
                std::int64_t row, std::int64_t col) {
  double exact = 0.0;
  double size = 0.0;
  for (std::int64_t k = 0; k < p.k; ++k) {
    const std::int64_t a_at = p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k;
    const std::int64_t b_at = p.b_op == Transpose::no ? col * p.ldb + k : k * p.ldb + col;
    const double product =
        double{before.a[index(member * p.a_stride + a_at)]} * before.b[index(member * p.b_stride + b_at)];
    exact += product;
    size += std::abs(product);
  }
  const std::size_t at = index(member * p.c_stride + col * p.ldc + row);
  exact = p.alpha * exact + (p.beta == 0.0f ? 0.0 : double{p.beta} * before.c[at]);
  size = std::abs(p.alpha) * size + (p.beta == 0.0f ? 0.0 : std::abs(double{p.beta} * before.c[at]));
  return std::abs(c[at] - exact) / ((2.0 * std::sqrt(static_cast<double>(p.k)) + 4.0) * 0x1p-24 * size);
}

double worst_error(const Problem& problem, const Matrices& before, const Matrices& after) {
  double worst = 0.0;
  for (std::int64_t member = 0; member < problem.batch; ++member) {
    for (std::int64_t col = 0; col < problem.n; ++col) {
      for (std::int64_t row = 0; row < problem.m; ++row) {
        const double error = error_of(problem, before, after.c, member, row, col);
        worst = error <= worst ? worst : error;  // a NaN is kept, too
      }
    }
  }
  return worst;
}

void expect_right(const Setting& setting, const Problem& problem, std::int64_t splits) {
  const Matrices before = random_matrices(problem);
  const Matrices after = multiplied(setting, problem, splits, before);
  EXPECT_LE(worst_error(problem, before, after), 1.0) << setting.product << ", " << splits << " slices";
}

Problem problem_of(const Setting& setting, std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem = Problem::packed(m, n, k);
  problem.precision = setting.precision;
  return problem;
}

TEST(TensorEmulation, IsRightAtTheEdgesOfTiles) {
  for (const Setting& setting : settings()) {
    for (const auto& [m, n, k] : {std::array{1, 1, 1}, {129, 65, 33}, {140, 130, 110}}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
      expect_right(setting, problem_of(setting, m, n, k), 1);
    }
  }
}

// Strips are 1024 rows of C high, and the last one is not.
TEST(TensorEmulation, CoversTheLastStripOfTiles) {
  for (const Setting& setting : settings()) {
    expect_right(setting, problem_of(setting, 1200, 140, 8), 1);
  }
}

TEST(TensorEmulation, AddsUpSlices) {
  for (const Setting& setting : settings()) {
    expect_right(setting, problem_of(setting, 130, 70, 130), 2);
  }
}

TEST(TensorEmulation, TakesEveryFormOfTheCall) {
  for (const Setting& setting : settings()) {
    Problem problem = problem_of(setting, 70, 66, 40);
    problem.a_op = Transpose::yes;
    problem.lda = 43;
    problem.b_op = Transpose::yes;
    problem.ldb = 69;
    problem.ldc = 71;
    problem.alpha = -0.5f;
    problem.beta = 2.0f;
    problem.batch = 2;
    problem.a_stride = problem.a_elements() + 5;
    problem.b_stride = problem.b_elements() + 3;
    problem.c_stride = problem.c_elements() + 1;
    problem.a_aligned = problem.b_aligned = problem.c_aligned = false;
    expect_right(setting, problem, 1);
  }
}

// Panels with a NaN are not written; everything else is.
TEST(TensorEmulation, LeavesOutWhatTermsDoNotHold) {
  for (const Setting& setting : settings()) {
    const Problem problem = problem_of(setting, 100, 140, 20);
    Matrices before = random_matrices(problem);
    before.b[index(139 * problem.ldb + 19)] = std::numeric_limits<float>::quiet_NaN();
    const Matrices after = multiplied(setting, problem, 1, before);
    for (std::int64_t col = 0; col < problem.n; ++col) {
      for (std::int64_t row = 0; row < problem.m; row += 7) {
        const std::size_t at = index(col * problem.ldc + row);
        EXPECT_EQ(after.c[at] == before.c[at], col >= 128) << setting.product << row << " " << col;
      }
    }
  }
}

// Three work-groups walk over nine tiles of the fix-up, and over the batch. Terms do not hold numbers that
// are far from the others of their block.
TEST(TensorEmulation, PatchesWhatItLeavesOut) {
  for (const Setting& setting : {settings()[0], settings()[2]}) {
    Problem problem = problem_of(setting, 270, 260, 20);
    problem.a_aligned = problem.b_aligned = problem.c_aligned = false;
    problem.batch = 2;
    problem.a_stride = problem.a_elements();
    problem.b_stride = problem.b_elements();
    problem.c_stride = problem.c_elements();
    Matrices before = random_matrices(problem);
    before.a[260] = 0x1p60f;
    before.b[index(problem.b_stride + 200 * problem.ldb)] = 0x1p60f;
    const Matrices without = multiplied(setting, problem, 1, before);
    const Matrices after = multiplied(setting, problem, 1, before, Steps::all);
    EXPECT_GT(worst_error(problem, before, without), 1.0) << setting.product;
    EXPECT_LE(worst_error(problem, before, after), 1.0) << setting.product;
  }
}

}  // namespace
}  // namespace duogemm
