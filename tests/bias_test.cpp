// A bias in place of C, as linear layers add it: by the kernel that multiplies, or by a step before it, to
// the same bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "hopper.h"
#include "plan/lower.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

constexpr std::int64_t guard = 64;

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// op(A) op(B) and a bias, with gaps between the columns and matrices, and guard bands around C.
Problem with_bias(std::int64_t m, std::int64_t n, std::int64_t k, const char* ops, std::int64_t gap) {
  Problem p = Problem::packed(m, n, k, 0.75f, -1.5f);
  p.a_op = ops[0] == 'T' ? Transpose::yes : Transpose::no;
  p.b_op = ops[1] == 'T' ? Transpose::yes : Transpose::no;
  p.lda = p.a_rows() + gap;
  p.ldb = p.b_rows() + gap;
  p.ldc = m + gap;
  p.batch = 2;
  p.a_stride = p.a_elements() + gap;
  p.b_stride = p.b_elements() + gap;
  p.c_stride = p.c_elements() + gap;
  p.bias = true;
  p.bias_stride = m + 1;  // the second is not aligned
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
    bias = draw(p.bias_stride + p.m);
    c.resize(index(p.c_extent() + 2 * guard));
    for (std::size_t i = 0; i < c.size(); ++i) {
      c[i] = std::bit_cast<float>(0x7fc00000u + static_cast<std::uint32_t>(i));  // a NaN for each place
    }
  }

  std::vector<float> a, b, bias, c;
};

float sum_of(const Problem& p, const Numbers& x, std::int64_t member, std::int64_t row, std::int64_t col) {
  float sum = 0.0f;
  for (std::int64_t k = 0; k < p.k; ++k) {
    const std::int64_t in_a = p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k;
    const std::int64_t in_b = p.b_op == Transpose::no ? col * p.ldb + k : k * p.ldb + col;
    sum = std::fma(x.a[index(member * p.a_stride + in_a)], x.b[index(member * p.b_stride + in_b)], sum);
  }
  return sum;
}

// What C becomes with its guard bands, by the one chain of multiply-adds of the level `everywhere`.
std::vector<float> right_result(const Problem& p, const Numbers& x) {
  std::vector<float> c = x.c;
  for (std::int64_t member = 0; member < p.batch; ++member) {
    for (std::int64_t col = 0; col < p.n; ++col) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        const float added = p.beta * x.bias[index(member * p.bias_stride + row)];
        c[index(guard + member * p.c_stride + col * p.ldc + row)] =
            p.multiplies() ? std::fma(p.alpha, sum_of(p, x, member, row, col), added) : added;
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
  const auto a = upload(x.a), b = upload(x.b), bias = upload(x.bias), c = upload(x.c);
  PreparedPlan::Operands operands = {{{a.get()}, {b.get()}, {c.get(), guard}}};
  operands[index(operand_bias.slot)] = {bias.get()};
  SelfContainedPlan(plan, *on.device, *on.programs).enqueue(*on.queue, operands);
  std::vector<float> result(x.c.size());
  on.queue->read(*c, result.data(), sizeof(float) * result.size());
  return result;
}

// Sums in slices of k are added in another order.
void expect_right(const Problem& p, const Plan& plan, bool same_order, TestDevice& on) {
  const Numbers x(p, static_cast<std::uint32_t>(p.m + 3 * p.n));
  const std::vector<float> found = result_of(plan, x, on);
  const std::vector<float> right = right_result(p, x);
  const float bound = same_order ? 0.0f : 0x1p-24f * (2 * std::sqrt(static_cast<float>(p.k)) + 4) * 16;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool same = std::bit_cast<std::uint32_t>(found[i]) == std::bit_cast<std::uint32_t>(right[i]);
    ASSERT_TRUE(same || std::fabs(found[i] - right[i]) <= bound)
        << "element " << i << ": " << found[i] << " for " << right[i] << " by " << describe(plan);
  }
}

// Kernels of the steps, that which adds the bias with a plus.
std::string steps_of(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    const auto bias = step.kernel->tunables.find("BIAS");
    text += (text.empty() ? "" : " ") + step.kernel->spec->name;
    text += bias != step.kernel->tunables.end() && bias->second == 1 ? "+" : "";
  }
  return text;
}

Plan lowered(const std::string& request, const Problem& p, const DeviceInfo& info) {
  return lower(schedule_for(parse_schedule(request), p, info), p, info);
}

class Biases : public ::testing::TestWithParam<DeviceName> {};

TEST_P(Biases, AreAddedByThePipelinedKernel) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  const std::string small = "pipelined:TSM=32,TSN=32,WPTM=4,WPTN=4,TRANSPOSE_ASYNC=1";
  for (const char* ops : {"NN", "NT", "TN", "TT"}) {
    for (const auto& [m, n, k, gap] :
         {std::array<std::int64_t, 4>{64, 64, 32, 0}, {33, 35, 17, 0}, {61, 1, 40, 3}, {68, 36, 20, 4}}) {
      const Problem p = with_bias(m, n, k, ops, gap);
      for (const char* packing : {"", ",pack_a=1,pack_b=1"}) {
        const Plan plan = lowered(small + packing, p, on.device->info());
        EXPECT_EQ(steps_of(plan), *packing == '\0' ? "pipelined+" : "pack pipelined+");
        expect_right(p, plan, true, on);
      }
    }
  }
}

TEST_P(Biases, AreAddedOnceByClusters) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  if (!on.device->info().clusters) {
    GTEST_SKIP() << "the device has no clusters";
  }
  const Problem p = with_bias(61, 70, 90, "TN", 3);
  const Plan plan =
      lowered("pipelined:TSM=32,TSN=32,WPTM=4,WPTN=4,slices=3,clustered=1", p, on.device->info());
  EXPECT_EQ(steps_of(plan), "pipelined+");
  expect_right(p, plan, false, on);
}

TEST_P(Biases, AreInCBeforeKernelsThatAddNone) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  Problem p = with_bias(33, 7, 70, "TN", 3);
  for (const std::int64_t stride : {p.bias_stride, std::int64_t{0}}) {
    p.bias_stride = stride;
    const std::string fill = stride == 0 ? "reduce " : "reduce reduce ";
    const Plan general = lowered("general", p, on.device->info());
    EXPECT_EQ(steps_of(general), fill + "general");
    expect_right(p, general, true, on);
    const Plan slices =
        lowered("pipelined:TSM=32,TSN=32,WPTM=4,WPTN=4,TRANSPOSE_ASYNC=1,slices=3", p, on.device->info());
    EXPECT_EQ(steps_of(slices), fill + "pipelined reduce");
    expect_right(p, slices, false, on);
  }
}

TEST_P(Biases, AreAddedByWhateverIsPlanned) {
  DUOGEMM_TEST_DEVICE(on, GetParam());
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{96, 80, 64}, {1, 50, 30}, {50, 1, 30}, {5, 6, 7}}) {
    Problem p = with_bias(m, n, k, "TN", 1);
    p.level = Reproducibility::everywhere;
    expect_right(p, plan_sgemm(p, on.device->info()), true, on);
    p.alpha = 0.0f;
    p.beta = 1.0f;
    expect_right(p, plan_sgemm(p, on.device->info()), true, on);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Biases, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

// The linear layers of a transformer, on a device that the library ships measurements of.
TEST(Bias, OfALinearLayerTakesNoStepOfItsOwn) {
  const DeviceInfo info = hopper();
  for (const std::int64_t outputs : {1024, 3072, 4096}) {
    Problem p = Problem::packed(outputs, 4096, 1024, 1.0f, 1.0f);
    p.a_op = Transpose::yes;
    p.lda = 1024;
    const Plan without = plan_sgemm(p, info);
    p.bias = true;
    EXPECT_EQ(steps_of(plan_sgemm(p, info)), steps_of(without) + "+");
  }
}

}  // namespace
}  // namespace duogemm::testing
