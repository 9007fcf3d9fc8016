// The kernels for tensor cores give the very bits that a model of these cores predicts, through every
// runtime; and no other model of those that were thought of predicts them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "check/input_classes.h"
#include "check/judge.h"
#include "families/kernel_source.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "tensor_oracle.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

using namespace bench;

struct BitsCase {
  const char* name;
  Problem problem;
  std::int64_t splits;
  Tunables tunables;
  const char* input;
  bool clustered = false;
  bool outlier = false;  // a number in A's second panel of rows that makes terms inexact
};

Problem problem_with_gaps(Transpose a_op, Transpose b_op, std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p = Problem::packed(m, n, k);
  p.a_op = a_op;
  p.b_op = b_op;
  p.lda = p.a_rows() + 3;
  p.ldb = p.b_rows() + 1;
  p.ldc = m + 2;
  return p;
}

std::vector<BitsCase> bits_cases() {
  constexpr Transpose no = Transpose::no, yes = Transpose::yes;
  Problem scaled = problem_with_gaps(yes, no, 150, 40, 200);
  scaled.alpha = 0.75f;
  scaled.beta = -1.5f;
  Problem updated =
      problem_with_gaps(no, no, 400, 130, 200);  // what was written before its time would be read
  updated.beta = 0.5f;
  return {{"uniform", problem_with_gaps(no, no, 260, 140, 300), 1, {{"TSM", 256}}, "signed_unit"},
          {"one_sign", problem_with_gaps(no, yes, 130, 130, 517), 1, {{"TSM", 128}}, "unit"},
          {"sizes", problem_with_gaps(yes, yes, 100, 100, 256), 1, {{"TSM", 256}}, "log_normal"},
          {"exponents", problem_with_gaps(yes, no, 129, 60, 192), 1, {{"TSM", 128}}, "exponents_40"},
          {"cancelling", problem_with_gaps(no, no, 64, 129, 256), 1, {{"TSM", 128}}, "cancelling"},
          {"slices", problem_with_gaps(no, no, 257, 129, 700), 4, {{"TSM", 256}}, "log_normal"},
          {"scalars", scaled, 3, {{"TSM", 128}}, "normal"},
          {"clustered", problem_with_gaps(no, no, 257, 129, 700), 4, {{"TSM", 256}}, "log_normal", true},
          {"clustered_scalars", scaled, 3, {{"TSM", 128}}, "normal", true},
          {"patched", problem_with_gaps(no, no, 300, 200, 400), 1, {{"TSM", 256}}, "adversarial"},
          {"half_patched", updated, 1, {{"TSM", 256}}, "signed_unit", false, true}};
}

const InputClass& input_named(const std::string& name) {
  return *std::ranges::find(input_classes(), name, &InputClass::name);
}

// The class's numbers where the matrix is in the array.
void fill(std::vector<float>& array, const std::vector<float>& numbers, std::int64_t rows, std::int64_t cols,
          std::int64_t ld, Transpose op) {
  for (std::int64_t col = 0; col < cols; ++col) {
    for (std::int64_t row = 0; row < rows; ++row) {
      array[static_cast<std::size_t>(op == Transpose::no ? col * ld + row : row * ld + col)] =
          numbers[static_cast<std::size_t>(col * rows + row)];
    }
  }
}

HostProblem host_problem(const BitsCase& each, Precision precision) {
  Problem p = each.problem;
  p.precision = precision;
  HostProblem host = random_problem(p, Distribution::signed_unit, 1);
  const InputClass& input = input_named(each.input);
  fill(host.a, make_a(input, p.m, p.k), p.m, p.k, p.lda, p.a_op);
  fill(host.b, make_b(input, p.k, p.n), p.k, p.n, p.ldb, p.b_op);
  if (each.outlier) {
    constexpr std::int64_t row = 200, k = 70;
    host.a[static_cast<std::size_t>(p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k)] = 0x1p60f;
  }
  return host;
}

// C as the device computes it, packed.
std::vector<float> multiply(const Schedule& schedule, const HostProblem& host, TestDevice& on) {
  const SelfContainedPlan plan(lower(schedule, host.problem, on.device->info()), *on.device, *on.programs);
  GuardedOperands operands(host, *on.device, *on.queue);
  plan.enqueue(*on.queue, operands.operands());
  const Verdict verdict = Judge(host).look_at_all(operands, *on.queue);
  EXPECT_TRUE(verdict.ok()) << verdict.fault();
  std::vector<float> c(host.c.size());
  on.queue->read(*operands.operands()[2].buffer, c.data(), sizeof(float) * c.size());
  return gather(c, host.problem.m, host.problem.n, host.problem.ldc, Transpose::no);
}

std::size_t differing(const std::vector<float>& x, const std::vector<float>& y) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    count += std::bit_cast<std::uint32_t>(x[i]) != std::bit_cast<std::uint32_t>(y[i]);
  }
  return count;
}

std::vector<float> predicted(const HostProblem& host, const TensorProduct& product, const TensorCore& core) {
  return multiply_in_terms(host.problem, host.a, host.b, host.c, product, core);
}

struct Model {
  const char* name;
  TensorCore core;
};
const std::vector<Model>& other_models() {
  static const std::vector<Model> models = {{"24 bits", {.fraction_bits = 24}},
                                            {"26 bits", {.fraction_bits = 26}},
                                            {"blocks of 8", {.block = 8}},
                                            {"blocks of 32", {.block = 32}},
                                            {"rounded terms", {.rounds_terms = true}},
                                            {"rounded sums", {.rounds_result = true}}};
  return models;
}

float add(float acc, const std::vector<float>& a, const std::vector<float>& b, const TensorCore& core = {}) {
  std::vector<Term> of_a, of_b;
  for (std::size_t i = 0; i < a.size(); ++i) {
    of_a.push_back(to_term(a[i], Precision::f16x3));
    of_b.push_back(to_term(b[i], Precision::f16x3));
  }
  return add_products(acc, of_a, of_b, Precision::f16x3, core);
}

TEST(TensorCoreModel, KeepsOneBitMoreThanFp32AndTheCarries) {
  EXPECT_EQ(add(1.0f, {0x1p-12f}, {0x1p-12f}), 1.0f);  // below what FP32 has, and cut off
  EXPECT_EQ(add(1.0f, {0x1p-12f, 0x1p-12f}, {0x1p-12f, 0x1p-12f}), 1.0f + 0x1p-23f);
  EXPECT_EQ(add(1.0f, {0x1p-13f, 0x1p-12f}, {0x1p-13f, 0x1p-12f}), 1.0f);  // 2^-26 is out of sight
  EXPECT_EQ(add(-1.0f, {0x1p-12f}, {0x1p-12f}), -1.0f + 0x1p-24f);         // FP32 has it below 1
  EXPECT_EQ(add(-1.0f, {0x1p-13f}, {0x1p-13f}), -1.0f);
  EXPECT_EQ(add(1.0f, {0x1p-12f}, {0x1p-12f}, {.rounds_result = true}), 1.0f) << "to even";
  EXPECT_EQ(add(1.0f, {0x1.8p-12f}, {0x1p-12f}, {.rounds_result = true}), 1.0f + 0x1p-23f);
  EXPECT_EQ(add(0.0f, {3.0f, 0.0f, -2.0f}, {5.0f, 7.0f, 0.5f}), 14.0f);
}

TEST(TensorCoreModel, AddsBlocksOneAfterTheOther) {
  std::vector<float> ones(32, 0.0f), tiny(32, 0.0f);
  ones[0] = tiny[0] = 1.0f;
  ones[8] = ones[9] = tiny[8] = tiny[9] = 0x1p-12f;  // together the last bit of 1, each for itself nothing
  EXPECT_EQ(add(0.0f, ones, tiny), 1.0f + 0x1p-23f);
  std::swap(ones[9], ones[17]);
  std::swap(tiny[9], tiny[17]);
  EXPECT_EQ(add(0.0f, ones, tiny), 1.0f);
  EXPECT_EQ(add(0.0f, ones, tiny, {.block = 32}), 1.0f + 0x1p-23f);
}

TEST(TensorCoreModel, HasTheNearestTerms) {
  const auto nearest = [](float value, Precision precision) {
    return to_float(to_term(value, precision), precision);
  };
  EXPECT_EQ(nearest(1.0f + 0x1p-11f, Precision::f16x3), 1.0f) << "to even";
  EXPECT_EQ(nearest(1.0f + 0x1.8p-10f, Precision::f16x3), 1.0f + 0x1p-9f);
  EXPECT_EQ(nearest(-0x1.ffep13f, Precision::f16x3), -0x1p14f);
  EXPECT_EQ(nearest(0x1.8p-24f, Precision::f16x3), 0x1p-23f) << "a denormal";
  EXPECT_EQ(nearest(0x1p-26f, Precision::f16x3), 0.0f);
  EXPECT_EQ(nearest(1.0f + 0x1.8p-7f, Precision::bf16x6), 1.0f + 0x1p-6f);
}

// The split, the products that are left out, and the order of promotion keep the bound: here without a
// device.
TEST(TensorCoreModel, KeepsTheBound) {
  for (const Precision precision : {Precision::bf16x6, Precision::f16x3}) {
    for (const InputClass& input : input_classes()) {
      SCOPED_TRACE(std::string(to_text(precision)) + ", " + input.name);
      const bool wide = precision == Precision::bf16x6;
      const HostProblem host =
          host_problem({"", Problem::packed(140, 20, 300), 1, {}, input.name.c_str()}, precision);
      const std::vector<float> c = predicted(host, {precision, 128, wide ? 32 : 64, 1}, {});
      const Verdict verdict = Oracle(host.problem, host.a, host.b, host.c).compare(c);
      EXPECT_LE(verdict.worst_error, 1.0) << verdict.fault();
      EXPECT_TRUE(!input.exact || verdict.same_bits());
    }
  }
}

std::vector<std::pair<const KernelSpec*, Precision>> kernels_on_tensor_cores() {
  std::vector<std::pair<const KernelSpec*, Precision>> kernels;
  for (const KernelSpec& spec : registry()) {
    if (spec.family && !spec.family->multiplies_in(Precision::fp32)) {
      kernels.emplace_back(&spec, Precision::bf16x6);
      kernels.emplace_back(&spec, Precision::f16x3);
    }
  }
  return kernels;
}

// The kernel may have no more of them.
Tunables allowed(const KernelSpec& spec, Tunables tunables) {
  erase_if(tunables, [&](const auto& wanted) {
    const std::vector<TunableDeclaration>& known = load_kernel(spec.path).tunables;
    return std::ranges::none_of(known, [&](const TunableDeclaration& each) {
      return each.name == wanted.first && each.allows(wanted.second);
    });
  });
  return tunables;
}

class TensorBits : public ::testing::TestWithParam<DeviceName> {};

TEST_P(TensorBits, AreThoseOfTheModelAndOfNoOther) {
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  if (device.device->info().compute_capability != 90) {
    GTEST_SKIP() << device.device->info().name << ": the model is that of compute capability 9.0";
  }
  for (const auto& [spec, precision] : kernels_on_tensor_cores()) {
    for (const BitsCase& each : bits_cases()) {
      if (each.clustered && !(spec->family->adds_in_clusters() && device.device->info().clusters)) {
        continue;
      }
      SCOPED_TRACE(spec->name + ", " + to_text(precision) + ", " + each.name);
      const HostProblem host = host_problem(each, precision);
      const Schedule schedule =
          schedule_for({spec, allowed(*spec, each.tunables), each.splits, each.clustered}, host.problem,
                       device.device->info());
      const Multiples& tile = schedule.kernel->tile;
      const TensorProduct product{precision, tile.m, tile.k, schedule.splits};
      const std::vector<float> found = multiply(schedule, host, device);
      const std::size_t wrong = differing(found, predicted(host, product, {}));
      const bool tells_models_apart = std::string(each.name) == "one_sign";
      std::string others;
      for (const Model& model : other_models()) {
        if (wrong > 0 || tells_models_apart) {
          const std::size_t differ = differing(found, predicted(host, product, model.core));
          EXPECT_TRUE(differ > 0 || !tells_models_apart) << model.name;
          others += std::string("; ") + model.name + ": " + std::to_string(differ);
        }
      }
      EXPECT_EQ(wrong, 0u) << "of " << found.size() << others;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorBits, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
