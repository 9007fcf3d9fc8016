// Grouped products through the runtime of each device: every way of storing the operands, groups of any size,
// each precision and level.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "devices.h"
#include "grouped_product.h"
#include "plan/lower.h"
#include "refusal.h"
#include "runtime/runtime.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

class Groups : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped()) {
      runtime_ = std::make_unique<Runtime>(GetParam().backend->open(GetParam().index, {}));
      if (!runtime_->device().info().barriers) {
        GTEST_SKIP() << "the device has a part of the dialect alone";
      }
      queue_ = runtime_->device().create_queue();
    }
  }

  // Operands begin at an element that vectors cannot begin at, or at one that they can. The factors may be in
  // device memory.
  void expect_right(const GroupedProduct& product, bool aligned, bool device_scalars = false) {
    Problem p = product.problem;
    const std::int64_t offset = aligned ? 4 : 3;
    std::vector<std::unique_ptr<Buffer>> buffers;
    const auto upload = [&](const void* from, std::size_t bytes, std::size_t begin) {
      buffers.push_back(runtime_->device().allocate(begin + bytes));
      std::vector<std::byte> content(begin + bytes, std::byte{0xff});
      std::memcpy(content.data() + begin, from, bytes);
      queue_->write(*buffers.back(), content.data(), content.size());
      return buffers.back().get();
    };
    const auto matrix = [&](const std::vector<float>& values, ElementType type) {
      const std::vector<float> as_stored = stored(values, type);
      return MatrixPlace{upload(as_stored.data(), sizeof(float) * as_stored.size(),
                                static_cast<std::size_t>(offset) * bytes_of(type)),
                         offset};
    };
    PreparedPlan::Operands operands = {
        {matrix(product.a, p.a_type), matrix(product.b, p.b_type), matrix(product.c, p.c_type)}};
    operands[index(operand_ends.slot)] = {
        upload(product.ends.data(), sizeof(std::int32_t) * product.ends.size(), 4), 1};
    if (device_scalars) {
      operands[index(operand_alpha.slot)] = {upload(&product.problem.alpha, sizeof(float), 0)};
      operands[index(operand_beta.slot)] = {upload(&product.problem.beta, sizeof(float), 0)};
      p.device_scalars = true;
      p.alpha = p.beta = 1.0f;
    }
    runtime_->enqueue(p, *queue_, operands);
    std::vector<float> found(index(offset) + product.c.size());
    queue_->read(*operands[2].buffer, found.data(), sizeof(float) * found.size());
    found.erase(found.begin(), found.begin() + offset);
    product.expect_right(found);
  }

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Queue> queue_;
};

GroupedProduct random_product(std::uint32_t seed) {
  Draw draw(seed);
  const std::int64_t n = draw.between(1, 400), gap = draw.one_of<std::int64_t>({0, 0, 1, 4});
  const char* const ops = draw.one_of<const char*>({"NN", "NT", "TN", "TT"});
  const std::int64_t quarters = draw.one_of<std::int64_t>({1, 4});
  Problem p = problem_of(draw.between(1, 60) * quarters, n, draw.between(1, 40) * quarters, ops, gap);
  p.alpha = draw.one_of({1.0f, 1.0f, -0.75f});
  p.beta = draw.one_of({0.0f, 0.0f, 1.0f, 0.5f});
  p.a_type = draw.one_of({ElementType::fp32, ElementType::fp32, ElementType::bf16});
  p.b_type = draw.one_of({ElementType::fp32, ElementType::fp32, ElementType::fp16});
  p.level = draw.one_of({Reproducibility::run_to_run, Reproducibility::everywhere});
  if (p.level == Reproducibility::run_to_run) {
    p.level = draw.one_of({Reproducibility::run_to_run, Reproducibility::batch_invariant});
    p.precision = draw.one_of({Precision::fp32, Precision::bf16x6, Precision::f16x3});
  }
  std::vector<std::int32_t> ends(index(draw.one_of<std::int64_t>({1, 2, 5, 40})));
  for (std::int32_t& end : ends) {
    end = static_cast<std::int32_t>(draw.between(0, n));
  }
  std::ranges::sort(ends);
  return {p, ends, seed};
}

TEST_P(Groups, OfAnyKindAreRight) {
  for (std::uint32_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_right(random_product(seed), seed % 2 == 0, seed % 5 == 0);
  }
}

// Their splits of k are added up in turn, in C or in a workspace.
TEST_P(Groups, HaveTheBitsOfTheLevelEverywhereWhereKIsLong) {
  for (const float beta : {0.0f, 0.5f}) {
    Problem p = problem_of(20, 30, everywhere_split + 7, "TN");
    p.beta = beta;
    p.level = Reproducibility::everywhere;
    expect_right(GroupedProduct(p, {3, 3, 30}, 5), true);
  }
}

// A kernel for tensor cores, where the device has such, and else what is planned. Each has problems of its
// own: plans are kept by the problem.
constexpr const char* forced[] = {"", "tensor:TSM=256", "tensor:TSM=128,slices=3", "tensor_mma",
                                  "tensor_mma:TSN=128,RESIDENT=1,slices=2"};

// What terms do not hold is computed in FP32.
TEST_P(Groups, MayHoldWhatTermsDoNot) {
  std::int64_t k = 130;
  for (const char* const kernel : forced) {
    for (const Precision precision : {Precision::bf16x6, Precision::f16x3}) {
      SCOPED_TRACE(std::string("DUOGEMM_FORCE=") + kernel);
      setenv("DUOGEMM_FORCE", kernel, 1);
      Problem p = problem_of(260, 500, ++k, "TN");
      p.precision = precision;
      p.alpha = 0.5f;
      p.beta = 2.0f;
      GroupedProduct product(p, {100, 101, 350, 350, 490}, 6);
      product.a[index(product.problem.a_stride + 30)] = 0x1p60f;
      product.b[5] = infinity;
      expect_right(product, true);
      expect_right(product, true, true);
      unsetenv("DUOGEMM_FORCE");
    }
  }
}

// Nothing is known of them before: they do no harm to what is around C.
TEST_P(Groups, KeepToTheirMatricesWhateverTheEnds) {
  std::int64_t k = 33;
  for (const char* const kernel : forced) {
    setenv("DUOGEMM_FORCE", kernel, 1);
    Problem p = problem_of(70, 90, ++k);
    p.precision = Precision::f16x3;
    GroupedProduct product(p, {90, 90, 90}, 7);
    product.ends = {-5, 1000, 20};
    const std::vector<float> around(100, 7.0f);
    std::vector<float> c = around;
    c.insert(c.end(), product.c.begin(), product.c.end());
    c.insert(c.end(), around.begin(), around.end());
    const auto upload = [&](const auto& values) {
      auto buffer = runtime_->device().allocate(sizeof values[0] * values.size());
      queue_->write(*buffer, values.data(), sizeof values[0] * values.size());
      return buffer;
    };
    const auto a = upload(product.a), b = upload(product.b), on_device = upload(c),
               ends = upload(product.ends);
    PreparedPlan::Operands operands = {{{a.get()}, {b.get()}, {on_device.get(), 100}}};
    operands[index(operand_ends.slot)] = {ends.get()};
    runtime_->enqueue(product.problem, *queue_, operands);
    queue_->read(*on_device, c.data(), sizeof(float) * c.size());
    EXPECT_TRUE(std::equal(around.begin(), around.end(), c.begin())) << kernel;
    EXPECT_TRUE(std::equal(around.begin(), around.end(), c.end() - 100)) << kernel;
    unsetenv("DUOGEMM_FORCE");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Groups, ::testing::ValuesIn(test_devices()), device_name);

TEST(GroupedProblem, NamesWhatIsWrong) {
  Sgemm request = Sgemm::packed(Layout::row_major, 100, 20, 30);
  request.batch = 3;
  request.b_stride = 600;
  const auto [problem, swapped] = to_grouped_column_major(request);
  EXPECT_TRUE(swapped);
  EXPECT_EQ(problem.groups, 3);
  EXPECT_EQ(problem.a_stride, 600);
  EXPECT_EQ(problem.n, 100);
  const auto refused = [](const Sgemm& asked) { return refusal([&] { to_grouped_column_major(asked); }); };
  request.batch = std::int64_t{1} << 24;
  EXPECT_EQ(refused(request),
            "the groups are 16777216 with 100 rows in all; with 256 more for each, these must be below 2^31");
  request.batch = -1;
  EXPECT_EQ(refused(request), "batch is -1; it must be at least 0");
  Problem long_sum = problem;
  long_sum.k = long_sum.lda = long_sum.ldb = std::int64_t{1} << 30;
  EXPECT_EQ(refusal([&] { plan_sgemm(long_sum, large_gpu()); }, Status::unsupported),
            "grouped products of k of at most 1073741823; it is 1073741824");
}

}  // namespace
}  // namespace duogemm::testing
