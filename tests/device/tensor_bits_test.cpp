// The kernels for tensor cores give the very bits that a model of these cores predicts, through every
// runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "check/judge.h"
#include "check_plan.h"
#include "devices.h"
#include "families/kernel_source.h"
#include "problem/precision.h"
#include "tensor_oracle.h"

namespace duogemm::testing {
namespace {

struct BitsCase {
  const char* name;
  Problem problem;
  std::int64_t splits;
  Tunables tunables;
  const char* input;
  bool clustered = false;
  bool outlier = false;  // a number in A's second panel of rows that makes terms inexact
};

std::vector<BitsCase> bits_cases() {
  Problem scaled = problem_of(150, 40, 200, "TN", 3);
  scaled.alpha = 0.75f;
  scaled.beta = -1.5f;
  Problem updated = problem_of(400, 130, 200, "NN", 3);  // what was written before its time would be read
  updated.beta = 0.5f;
  const Tunables few = {{"TSM", 128}, {"TSN", 64}};  // columns
  return {
      {"uniform", problem_of(260, 140, 300, "NN", 3), 1, {{"TSM", 256}}, "signed_unit"},
      {"one_sign", problem_of(130, 130, 517, "NT", 3), 1, {{"TSM", 128}}, "unit"},
      {"sizes", problem_of(100, 100, 256, "TT", 3), 1, {{"TSM", 256}}, "log_normal"},
      {"exponents", problem_of(129, 60, 192, "TN", 3), 1, {{"TSM", 128}}, "exponents_40"},
      {"cancelling", problem_of(64, 129, 256, "NN", 3), 1, {{"TSM", 128}}, "cancelling"},
      {"slices", problem_of(257, 129, 700, "NN", 3), 4, {{"TSM", 256}}, "log_normal"},
      {"scalars", scaled, 3, {{"TSM", 128}}, "normal"},
      {"clustered", problem_of(257, 129, 700, "NN", 3), 4, {{"TSM", 256}}, "log_normal", true},
      {"clustered_scalars", scaled, 3, {{"TSM", 128}}, "normal", true},
      {"few_columns", problem_of(260, 50, 300, "TN", 3), 1, few, "signed_unit"},
      {"few_columns_clustered", problem_of(260, 150, 700, "NT", 3), 4, few, "log_normal", true},
      {"few_columns_of_tall", problem_of(300, 150, 300, "NN", 3), 2, {{"TSM", 256}, {"TSN", 64}}, "normal"},
      {"patched_in_few_columns", problem_of(300, 200, 400, "NN", 3), 1, few, "adversarial"},
      {"patched", problem_of(300, 200, 400, "NN", 3), 1, {{"TSM", 256}}, "adversarial"},
      {"half_patched", updated, 1, {{"TSM", 256}}, "signed_unit", false, true}};
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
  const InputClass& input = *std::ranges::find(input_classes(), each.input, &InputClass::name);
  fill(host.a, make_a(input, p.m, p.k), p.m, p.k, p.lda, p.a_op);
  fill(host.b, make_b(input, p.k, p.n), p.k, p.n, p.ldb, p.b_op);
  if (each.outlier) {
    constexpr std::int64_t row = 200, k = 70;
    host.a[static_cast<std::size_t>(p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k)] = 0x1p60f;
  }
  return host;
}

std::size_t differing(const std::vector<float>& x, const std::vector<float>& y) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    count += std::bit_cast<std::uint32_t>(x[i]) != std::bit_cast<std::uint32_t>(y[i]);
  }
  return count;
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

TEST_P(TensorBits, AreThoseOfTheModel) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
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
      const Checked checked = run_plan(lower(schedule, host.problem, device.device->info()), host, device);
      EXPECT_TRUE(checked.verdict.ok()) << checked.verdict.fault();
      const Problem& p = host.problem;
      const std::vector<float> found = gather(checked.c, p.m, p.n, p.ldc, Transpose::no);
      EXPECT_EQ(differing(found, multiply_in_terms(p, host.a, host.b, host.c, product)), 0u)
          << "of " << found.size();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorBits, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
