// A call may compute more than C <- alpha op(A) op(B) + beta C: an addend apart from C, such as a bias, which
// the kernel that multiplies adds or finds in C, to the same bits; and what the step `finish` does.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <utility>

#include "check_plan.h"
#include "devices.h"
#include "draw.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

constexpr std::int64_t guard = 64;

// op(A) op(B) and a bias, with gaps between the columns and matrices, and guard bands around C, which has
// numbers where it is read.
Problem with_bias(std::int64_t m, std::int64_t n, std::int64_t k, const char* ops, std::int64_t gap) {
  Problem p = problem_of(m, n, k, ops, gap, 2);
  p.alpha = 0.75f;
  p.beta = -1.5f;
  p.addend_apart = true;
  p.addend_stride = m + 1;  // the second is not aligned
  return p;
}

struct Numbers {
  Numbers(const Problem& p, std::uint32_t seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    const auto draw = [&](std::int64_t count) {
      std::vector<float> values(index(count));
      for (float& value : values) {
        value = uniform(generator);
      }
      return values;
    };
    a = draw(p.a_extent());
    b = draw(p.b_extent());
    addend = draw(p.addend_stride + p.addend_ld * p.n + p.m);
    bias = draw(p.bias_stride + p.m);
    scalars = {p.alpha, p.beta};
    c = draw(p.c_extent() + 2 * guard);
    for (std::size_t i = 0; (p.addend_apart || p.beta == 0.0f) && i < c.size(); ++i) {
      c[i] = tagged_nan(0, i);
    }
  }

  std::vector<float> a, b, addend, bias, scalars, c;
};

float sum_of(const Problem& p, const Numbers& x, std::int64_t member, std::int64_t row, std::int64_t col) {
  float before = -0.0f;  // which changes no sum
  float sum = 0.0f;
  for (std::int64_t k = 0; k < p.k; ++k) {
    if (p.owed_splits() > 1 && k > 0 && k % everywhere_split == 0) {
      before += std::exchange(sum, 0.0f);
    }
    const std::int64_t in_a = p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k;
    const std::int64_t in_b = p.b_op == Transpose::no ? col * p.ldb + k : k * p.ldb + col;
    sum = std::fma(x.a[index(member * p.a_stride + in_a)], x.b[index(member * p.b_stride + in_b)], sum);
  }
  return before + sum;
}

float activated(Activation function, float x) {
  const double wide = x;
  switch (function) {
    case Activation::relu:
      return x > 0.0f ? x : 0.0f;
    case Activation::gelu:
      return static_cast<float>(
          wide / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (wide + 0.044715 * wide * wide * wide))));
    case Activation::gelu_erf:
      return static_cast<float>(wide / 2 * (1 + std::erf(wide / std::sqrt(2.0))));
    case Activation::silu:
      return static_cast<float>(wide / (1 + std::exp(-wide)));
    case Activation::none:
      break;
  }
  return x;
}

// Gives C with its guard bands, by the chains of multiply-adds of the level `everywhere`. The
// factors are those of `x`.
std::vector<float> right_result(const Problem& p, const Numbers& x) {
  std::vector<float> c = x.c;
  const float alpha = x.scalars[0], beta = x.scalars[1];
  const bool multiplies = alpha != 0.0f && p.k != 0;
  for (std::int64_t member = 0; member < p.batch; ++member) {
    for (std::int64_t col = 0; col < p.n; ++col) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        float& element = c[index(guard + member * p.c_stride + col * p.ldc + row)];
        const float before =
            p.addend_apart ? x.addend[index(member * p.addend_stride + col * p.addend_ld + row)] : element;
        const float added = beta == 0.0f ? 0.0f : beta * before;
        element = multiplies ? std::fma(alpha, sum_of(p, x, member, row, col), added) : added;
        if (p.bias) {
          element += x.bias[index(member * p.bias_stride + row)];
        }
        element = activated(p.activation, element);
      }
    }
  }
  return c;
}

std::vector<float> result_of(const Plan& plan, const Numbers& x, TestDevice& on) {
  const auto upload = [&](const std::vector<float>& values) {
    auto buffer = on.device->allocate(sizeof(float) * values.size());
    on.queue->write(*buffer, values.data(), sizeof(float) * values.size());
    return buffer;
  };
  const auto a = upload(x.a), b = upload(x.b), addend = upload(x.addend), bias = upload(x.bias),
             c = upload(x.c);
  const auto alpha = upload({x.scalars[0]}), beta = upload({x.scalars[1]});
  PreparedPlan::Operands operands = {{{a.get()}, {b.get()}, {c.get(), guard}}};
  operands[index(operand_addend.slot)] = {addend.get()};
  operands[index(operand_bias.slot)] = {bias.get()};
  operands[index(operand_alpha.slot)] = {alpha.get()};
  operands[index(operand_beta.slot)] = {beta.get()};
  const SelfContainedPlan twice(plan, *on.device, *on.programs);  // so that workspace holds something
  twice.enqueue(*on.queue, operands);
  on.queue->write(*c, x.c.data(), sizeof(float) * x.c.size());
  twice.enqueue(*on.queue, operands);
  std::vector<float> result(x.c.size());
  on.queue->read(*c, result.data(), sizeof(float) * result.size());
  return result;
}

void expect_right(const Problem& p, const Numbers& x, Plan plan, float bound, TestDevice& on) {
  plan.scalars = {p.alpha, p.beta};  // as a call gives them
  const std::vector<float> found = result_of(plan, x, on);
  const std::vector<float> right = right_result(p, x);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool same = std::bit_cast<std::uint32_t>(found[i]) == std::bit_cast<std::uint32_t>(right[i]);
    ASSERT_TRUE(same || std::fabs(found[i] - right[i]) <= bound)
        << "element " << i << ": " << found[i] << " for " << right[i] << " by " << describe(plan);
  }
}

float rounding(const Problem& p) { return 0x1p-24f * (2 * std::sqrt(static_cast<float>(p.k)) + 4) * 16; }

// By steps of these kernels. Sums over splits of k are added in another order.
void expect_right(const Problem& p, const std::string& request, const char* steps, TestDevice& on) {
  const Plan plan = plan_of(parse_schedule(request), p, on.device->info());
  EXPECT_EQ(steps_of(plan), steps);
  const bool same_order = request.find("slices") == std::string::npos;
  expect_right(p, Numbers(p, static_cast<std::uint32_t>(p.m + 3 * p.n)), plan,
               same_order ? 0.0f : rounding(p), on);
}

// By whatever is planned where the call gives factors in memory, or not.
void expect_right_as_planned(Problem p, const Numbers& x, bool factors_in_memory, float bound,
                             TestDevice& on) {
  if (factors_in_memory) {
    p.device_scalars = true;
    p.alpha = p.beta = 1.0f;
  }
  expect_right(p, x, plan_sgemm(p, on.device->info()), bound, on);
}

const std::string small_tiles = "pipelined:TSM=32,TSN=32,WPTM=4,WPTN=4,K_MAJOR=1";

class Epilogues : public ::testing::TestWithParam<DeviceName> {};

TEST_P(Epilogues, AddABiasInThePipelinedKernel) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(on, GetParam());
  for (const char* ops : {"NN", "NT", "TN", "TT"}) {
    for (const auto& [m, n, k, gap] :
         {std::array<std::int64_t, 4>{64, 64, 32, 0}, {33, 35, 17, 0}, {61, 1, 40, 3}, {68, 36, 20, 4}}) {
      const Problem p = with_bias(m, n, k, ops, gap);
      expect_right(p, small_tiles, "pipelined", on);
      expect_right(p, small_tiles + ",pack_a=1,pack_b=1", "pack pipelined", on);
    }
  }
}

TEST_P(Epilogues, AddABiasOnceInClusters) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  if (!on.device->info().clusters) {
    GTEST_SKIP() << "the device has no clusters";
  }
  expect_right(with_bias(61, 70, 90, "TN", 3), "pipelined:TSM=32,TSN=32,WPTM=4,WPTN=4,slices=3,clustered=1",
               "pipelined", on);
}

// Splits that are owed, whoever adds them up.
TEST_P(Epilogues, FinishLongSumsAtTheLevelEverywhere) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(on, GetParam());
  Problem p = with_bias(35, 9, 2 * everywhere_split + 13, "NT", 1);
  p.level = Reproducibility::everywhere;
  std::vector<std::string> requests = {"general", small_tiles, small_tiles + ",pack_a=1",
                                       small_tiles + ",slices=3"};
  if (on.device->info().clusters) {
    requests.push_back(small_tiles + ",slices=3,clustered=1");
  }
  for (const std::string& request : requests) {
    for (const auto& [alpha, beta] : {std::pair(0.75f, -1.5f), {1.0f, 0.0f}}) {
      p.alpha = alpha;
      p.beta = beta;
      expect_right(p, Numbers(p, 4), plan_of(parse_schedule(request), p, on.device->info()), 0.0f, on);
    }
  }
  for (const bool factors_in_memory : {false, true}) {
    p.bias = true;
    p.bias_stride = 37;
    expect_right_as_planned(p, Numbers(p, 5), factors_in_memory, 0.0f, on);
  }
}

TEST_P(Epilogues, AddABiasInOtherKernelsAndAfterSlices) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(on, GetParam());
  Problem p = with_bias(33, 7, 70, "TN", 3);
  for (const std::int64_t stride : {p.addend_stride, std::int64_t{0}}) {
    p.addend_stride = stride;
    expect_right(p, "general", "general", on);
    expect_right(p, small_tiles + ",slices=3", "pipelined reduce", on);
  }
}

TEST_P(Epilogues, AddABiasWhateverIsPlanned) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{96, 80, 64}, {1, 50, 30}, {50, 1, 30}, {5, 6, 7}}) {
    Problem p = with_bias(m, n, k, "TN", 1);
    p.level = Reproducibility::everywhere;
    expect_right_as_planned(p, Numbers(p, 1), false, 0.0f, on);
    p.alpha = 0.0f;
    p.beta = 1.0f;
    expect_right_as_planned(p, Numbers(p, 2), false, 0.0f, on);
  }
}

// Each function, with and without a bias, an addend, and factors in memory, of which each may be zero.
TEST_P(Epilogues, FinishWhateverIsPlanned) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  using enum Activation;
  for (const Activation activation : {none, relu, gelu, gelu_erf, silu}) {
    for (int bits = 0; bits < 32; ++bits) {
      Problem p = with_bias(35, 9, 40, "NT", 1);
      p.level = Reproducibility::everywhere;
      p.addend_apart = (bits & 1) != 0;
      p.addend_ld = 36;
      p.addend_stride = 36 * p.n;
      p.bias = (bits & 2) != 0;
      p.bias_stride = 37;
      p.activation = activation;
      p.alpha = (bits & 8) != 0 ? 0.0f : p.alpha;
      p.beta = (bits & 16) != 0 ? 0.0f : p.beta;
      expect_right_as_planned(p, Numbers(p, static_cast<std::uint32_t>(bits)), (bits & 4) != 0,
                              activation == none || activation == relu ? 0.0f : 4e-6f, on);
    }
  }
}

TEST_P(Epilogues, TakeFactorsInMemoryForPlansInSlices) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(on, GetParam());
  Problem p = with_bias(33, 35, 70, "TN", 3);
  p.addend_apart = false;
  const Numbers x(p, 5);
  p.device_scalars = true;
  p.alpha = p.beta = 1.0f;
  const ScheduleRequest request = parse_schedule(small_tiles + ",slices=3,pack_a=1");
  const Plan plan = plan_sgemm(*request.spec, request.tunables, p, on.device->info());
  EXPECT_EQ(steps_of(plan), "pipelined finish");
  expect_right(p, x, plan, 0.0f, on);
}

// With alpha zero, nothing of A and B is in the result.
TEST_P(Epilogues, LeaveNaNsOutWhereAlphaInMemoryIsZero) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  Problem p = with_bias(20, 9, 12, "NN", 0);
  p.addend_apart = false;
  p.alpha = 0.0f;
  Numbers x(p, 7);
  x.a.assign(x.a.size(), nan);
  expect_right_as_planned(p, x, true, 0.0f, on);
}

TEST(Epilogue, WithFactorsInMemoryNeedsWorkspace) {
  Problem p = Problem::packed(100, 50, 20, 1.0f, 1.0f);
  p.device_scalars = true;
  EXPECT_EQ(plan_sgemm(p, hopper()).workspace_bytes.back(), sizeof(float) * 100 * 50);
  p.no_workspace = true;
  EXPECT_NE(refusal([&] { plan_sgemm(p, hopper()); }, Status::out_of_memory), "accepted");
}

// Whatever is planned otherwise: splits of k that a step adds up, packed operands, pieces for tensor cores.
TEST(Plan, NeedsNoWorkspaceWhereThereIsNone) {
  int needed = 0;
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{64, 64, 100000},
                                {4099, 4099, 4099},
                                {2048, 2048, 2048},
                                {3, 4000, 7000}}) {
    for (const Precision precision : {Precision::fp32, Precision::f16x3}) {
      Problem p = problem_of(m, n, k, "TN");
      p.precision = precision;
      needed += plan_sgemm(p, hopper()).workspace_bytes.empty() ? 0 : 1;
      p.no_workspace = true;
      EXPECT_TRUE(plan_sgemm(p, hopper()).workspace_bytes.empty());
    }
  }
  EXPECT_GE(needed, 4);
  // Clusters add splits up that would be kept in a workspace in turn.
  Problem owed = problem_of(64, 64, 3 * everywhere_split, "TN");
  owed.level = Reproducibility::everywhere;
  owed.beta = 1.0f;
  owed.no_workspace = true;
  EXPECT_TRUE(plan_sgemm(owed, hopper()).workspace_bytes.empty());
}

INSTANTIATE_TEST_SUITE_P(Devices, Epilogues, ::testing::ValuesIn(test_devices()), device_name);

// The linear layers of a transformer, on a device that the library ships measurements of.
TEST(Epilogue, OfALinearLayerTakesNoStepOfItsOwn) {
  const DeviceInfo info = hopper();
  for (const std::int64_t outputs : {1024, 3072, 4096}) {
    Problem p = problem_of(outputs, 4096, 1024, "TN");
    p.beta = 1.0f;
    const Plan without = plan_sgemm(p, info);
    p.addend_apart = true;
    EXPECT_EQ(steps_of(plan_sgemm(p, info)), steps_of(without));
  }
}

}  // namespace
}  // namespace duogemm::testing
