// Plans are kept for the problems that come again, and serve no other: on a device in memory.
#include "runtime/runtime.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "devices.h"
#include "fake_device.h"
#include "families/tensor.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

// A call's factors are bound when it is launched.
class Plans : public ::testing::Test {
 protected:
  // With matrices this many elements after the beginning of their buffers.
  void multiply(const Problem& problem, std::int64_t a_offset = 0, std::int64_t b_offset = 0,
                std::int64_t c_offset = 0) {
    runtime_.enqueue(problem, *queue_, {{{&a_, a_offset}, {&b_, b_offset}, {&c_, c_offset}}});
    queue_->finish();
  }

  Faults faults_;
  Runtime runtime_{std::make_unique<FakeDevice>(faults_), DiskCache({})};
  std::unique_ptr<Queue> queue_ = runtime_.device().create_queue();
  FakeBuffer a_{faults_, 64 * sizeof(float)};
  FakeBuffer b_{faults_, 64 * sizeof(float)};
  FakeBuffer c_{faults_, 64 * sizeof(float)};
};

TEST_F(Plans, ServeAllFactors) {
  std::fill_n(a_.data(), 9, 1.0f);
  std::fill_n(b_.data(), 9, 1.0f);
  std::fill_n(c_.data(), 9, 10.0f);
  multiply(Problem::packed(3, 3, 3, 2.0f, 0.0f));
  EXPECT_EQ(c_.data()[8], 6.0f);
  multiply(Problem::packed(3, 3, 3, 5.0f, 0.0f));
  EXPECT_EQ(c_.data()[8], 15.0f);
  EXPECT_EQ(runtime_.plans(), 1u);
  multiply(Problem::packed(3, 3, 3, 1.0f, 2.0f));
  EXPECT_EQ(c_.data()[8], 33.0f);
  multiply(Problem::packed(3, 3, 3, 1.0f, -1.0f));
  EXPECT_EQ(c_.data()[8], -30.0f);
  EXPECT_EQ(runtime_.plans(), 2u) << "where C is not read, the plan may be another";
}

// One more than are kept: the first is forgotten, and planned anew when it comes again.
TEST_F(Plans, AreMadeAnewForAProblemThatWasForgotten) {
  std::fill_n(a_.data(), 64, 1.0f);
  std::fill_n(b_.data(), 64, 1.0f);
  const Problem first = Problem::packed(3, 3, 5);
  multiply(first);
  for (std::size_t i = 0; i < Runtime::most_plans + 8; ++i) {
    Problem other = Problem::packed(1, 1, 1);
    other.lda = 1 + static_cast<std::int64_t>(i);
    multiply(other);
  }
  for (int again = 0; again < 2; ++again) {
    std::fill_n(c_.data(), 9, 0.0f);
    multiply(first);
    EXPECT_EQ(std::count(c_.data(), c_.data() + 9, 5.0f), 9);
    EXPECT_EQ(runtime_.plans(), Runtime::most_plans);
  }
}

// Makes of a problem another one, different in one thing.
using Change = std::pair<const char*, void (*)(Problem&)>;

constexpr Change changes[] = {{"m", [](Problem& p) { p.m = 7; }},
                              {"n", [](Problem& p) { p.n = 7; }},
                              {"k", [](Problem& p) { p.k = 7; }},
                              {"lda", [](Problem& p) { p.lda = 12; }},
                              {"ldb", [](Problem& p) { p.ldb = 12; }},
                              {"ldc", [](Problem& p) { p.ldc = 12; }},
                              {"batch", [](Problem& p) { p.batch = 3; }},
                              {"a_stride", [](Problem& p) { p.a_stride = 0; }},
                              {"b_stride", [](Problem& p) { p.b_stride = 0; }},
                              {"c_stride", [](Problem& p) { p.c_stride = 128; }},
                              {"a_op", [](Problem& p) { p.a_op = Transpose::yes; }},
                              {"b_op", [](Problem& p) { p.b_op = Transpose::yes; }},
                              {"groups", [](Problem& p) { p.groups = 2; }},
                              {"batch_by", [](Problem& p) { p.batch_by = BatchBy::offsets; }},
                              {"level", [](Problem& p) { p.level = Reproducibility::everywhere; }},
                              {"precision", [](Problem& p) { p.precision = Precision::f16x3; }},
                              {"addend_apart", [](Problem& p) { p.addend_apart = true; }},
                              {"addend_ld", [](Problem& p) { p.addend_ld = 8; }},
                              {"addend_stride", [](Problem& p) { p.addend_stride = 8; }},
                              {"bias", [](Problem& p) { p.bias = true; }},
                              {"bias_stride", [](Problem& p) { p.bias_stride = 8; }},
                              {"activation", [](Problem& p) { p.activation = Activation::relu; }},
                              {"device_scalars", [](Problem& p) { p.device_scalars = true; }},
                              {"no_workspace", [](Problem& p) { p.no_workspace = true; }},
                              {"alpha", [](Problem& p) { p.alpha = 0.0f; }},
                              {"a_prepared", [](Problem& p) { p.a_prepared = true; }},
                              {"b_prepared", [](Problem& p) { p.b_prepared = true; }},
                              {"beta", [](Problem& p) { p.beta = 0.0f; }}};

// Sums over splits that are kept in C serve no other factors.
TEST_F(Plans, OfLongSumsAtTheLevelEverywhereAreForAlphaOneOrForOthers) {
  faults_.idle = true;
  Problem problem = Problem::packed(8, 8, 5000);
  problem.level = Reproducibility::everywhere;
  std::size_t plans = 0;
  for (const float alpha : {1.0f, 3.0f, 1.0f, -2.0f}) {
    problem.alpha = alpha;
    multiply(problem);
    plans = alpha == -2.0f ? plans : std::min<std::size_t>(plans + 1, 2);
    EXPECT_EQ(runtime_.plans(), plans) << alpha;
  }
}

TEST_F(Plans, ServeNoProblemThatDiffersInAnythingElse) {
  faults_.idle = true;
  Problem first = Problem::packed(8, 8, 8, 1.0f, 2.0f);
  first.batch = 2;
  first.a_stride = first.b_stride = first.c_stride = 96;
  multiply(first);
  std::size_t plans = 1;
  ASSERT_EQ(runtime_.plans(), plans);
  for (const auto& [name, change] : changes) {
    Problem other = first;
    change(other);
    multiply(other);
    EXPECT_EQ(runtime_.plans(), ++plans) << name;
    multiply(other);
    multiply(first);
    EXPECT_EQ(runtime_.plans(), plans) << name << ", the second time";
  }
}

// Each operand's own: what is read in vectors must stand at a multiple of their size.
TEST_F(Plans, ServeNoOperandThatIsAlignedOtherwise) {
  faults_.idle = true;
  const Problem problem = Problem::packed(8, 8, 8);
  for (int offsets = 0; offsets < 8; ++offsets) {
    multiply(problem, offsets & 1, offsets >> 1 & 1, offsets >> 2);
    EXPECT_EQ(runtime_.plans(), static_cast<std::size_t>(offsets) + 1);
  }
  multiply(problem, 4, 8, 12);
  EXPECT_EQ(runtime_.plans(), 8u) << "multiples of four elements are aligned";
}

DeviceInfo h100() {
  DeviceInfo info = hopper();
  info.name = "NVIDIA H100 80GB HBM3";
  info.memory_bytes = 80'000'000'000;
  info.cache_bytes = 50 << 20;
  return info;
}

// The products of a transformer's layer of 1024 for a prompt, without the beginning of their matrices.
std::vector<Problem> products_for_prompt(std::int64_t length) {
  const auto by_weights = [=](std::int64_t outputs, std::int64_t inputs, float beta) {
    Problem problem = problem_of(outputs, length, inputs, "TN");
    problem.beta = beta;
    return problem;
  };
  const auto of_heads = [](Problem problem, std::int64_t c_stride) {
    problem.lda = 3 * 1024;
    problem.batch = 16;
    problem.a_stride = 64;
    problem.c_stride = c_stride;
    return problem;
  };
  Problem scores = of_heads(Problem::packed(length, length, 64, 0.125f), length * length);
  scores.a_op = Transpose::yes;
  scores.ldb = 3 * 1024;
  scores.b_stride = 64;
  Problem values = of_heads(Problem::packed(64, length, length), 64);
  values.b_stride = length * length;
  values.ldc = 1024;
  return {by_weights(3072, 1024, 0.0f),
          scores,
          values,
          by_weights(1024, 1024, 1.0f),
          by_weights(4096, 1024, 0.0f),
          by_weights(1024, 4096, 1.0f)};
}

// Fewer than one call in a hundred, of sizes that never come again, allocates on a queue that is warm.
TEST(Runtime, AllocatesSeldomForPromptsOfAllLengths) {
  Faults faults{.idle = true};
  Runtime runtime(std::make_unique<FakeDevice>(faults, h100()), DiskCache({}));
  const std::unique_ptr<Queue> queue = runtime.device().create_queue();
  const FakeBuffer matrix(faults, sizeof(float));
  runtime.warm(*queue);
  const int before = faults.allocations;
  int calls = 0;
  for (std::int64_t length = 16; length <= 2048; length = length * 11 / 9 + 1) {
    for (const Problem& problem : products_for_prompt(length)) {
      runtime.enqueue(problem, *queue, {{{&matrix}, {&matrix}, {&matrix}}});
      ++calls;
    }
  }
  EXPECT_LE(100 * (faults.allocations - before), calls);
  EXPECT_GT(faults.launched.size(), static_cast<std::size_t>(calls)) << "none needs workspace";
}

// In a capture, too, whose memory is the graph's.
TEST(Runtime, MultipliesWithoutWorkspaceWhereThereIsNoMemoryForIt) {
  for (const bool capturing : {false, true}) {
    Faults faults{.idle = true};
    Runtime runtime(std::make_unique<FakeDevice>(faults, h100()), DiskCache({}));
    const FakeBuffer matrix(faults, 64 * sizeof(float));
    FakeQueue queue(faults);
    queue.now.capturing = capturing;
    const auto entries = [&](const Problem& problem) {
      faults.launched.clear();
      runtime.enqueue(problem, queue, {{{&matrix}, {&matrix}, {&matrix}}});
      std::vector<std::string> found;
      for (const Launch& launch : faults.launched) {
        found.push_back(launch.entry);
      }
      return found;
    };
    Problem problem = Problem::packed(64, 64, 100000);
    problem.precision = Precision::f16x3;
    faults.memory = 0;
    EXPECT_EQ(entries(problem).size(), 1u);
    problem.device_scalars = true;
    EXPECT_THROW(entries(problem), Error);
    EXPECT_TRUE(faults.launched.empty());
    faults.memory = std::numeric_limits<std::size_t>::max();
    problem.device_scalars = false;
    EXPECT_GT(entries(problem).size(), 1u);
  }
}

// It launches a kernel first, on a queue of its own, so that the caller's first call is not a driver's first;
// but for a queue that is captured it only prepares programs.
TEST(Runtime, MultipliesOnceToGetReady) {
  Faults faults{.idle = true};
  Runtime runtime(std::make_unique<FakeDevice>(faults, h100()), DiskCache({}));
  FakeQueue queue(faults);
  queue.now.capturing = true;
  EXPECT_GT(runtime.warm(queue).programs, 10u);
  EXPECT_TRUE(faults.launched.empty());
  EXPECT_EQ(faults.allocations, 0);
  queue.now.capturing = false;
  runtime.warm(queue);
  ASSERT_EQ(faults.launched.size(), 1u);
  EXPECT_NE(faults.launched.front().queue, queue.state().handle);
}

TEST(Runtime, PreparesAnOperandWithOneLaunchAndNoMemory) {
  Faults faults{.idle = true};
  Runtime runtime(std::make_unique<FakeDevice>(faults, h100()), DiskCache({}));
  FakeQueue queue(faults);
  const FakeBuffer memory(faults, sizeof(float));
  Problem problem = Problem::packed(300, 200, 100);
  problem.precision = Precision::f16x3;
  problem.b_prepared = true;
  EXPECT_EQ(runtime.prepared_bytes(problem), prepared_bytes(problem));
  const int allocations = faults.allocations;
  const std::size_t launches = faults.launched.size();
  PreparedPlan::Operands operands;
  for (const Operand operand : {operand_b, operand_prepared_b}) {
    operands[static_cast<std::size_t>(operand.slot)] = {&memory};
  }
  runtime.enqueue_preparation(problem, queue, operands);
  EXPECT_EQ(faults.launched.size(), launches + 1);
  EXPECT_EQ(faults.allocations, allocations);
}

// A driver that knows a kernel's limit only once it is compiled.
TEST(Planning, GoesOnWithSmallerWorkGroupsWhereAKernelHasNoRoom) {
  Faults faults;
  auto device = std::make_unique<FakeDevice>(faults, large_gpu());
  int refused = 0;
  device->at_work = [&](const std::string&) {
    if (refused++ == 0) {
      throw WorkGroupTooLarge(256, 64);
    }
  };
  const FakeDevice& fake = *device;
  Runtime runtime(std::move(device), DiskCache({}));
  runtime.prepare(Problem::packed(512, 512, 512));
  EXPECT_EQ(fake.compiled.size(), 2u);
  EXPECT_NE(fake.compiled.front(), fake.compiled.back());
  runtime.prepare(Problem::packed(512, 512, 500));
  EXPECT_EQ(fake.compiled.size(), 2u);
}

TEST(Planning, EndsWhereNoWorkGroupIsSmallEnough) {
  Faults faults;
  auto device = std::make_unique<FakeDevice>(faults, large_gpu());
  device->at_work = [](const std::string&) { throw WorkGroupTooLarge(128, 32); };
  Runtime runtime(std::move(device), DiskCache({}));
  EXPECT_EQ(refusal([&] { runtime.prepare(Problem::packed(512, 512, 512)); }, Status::unsupported),
            "a work-group of 64 work-items; the device allows 32");
}

}  // namespace
}  // namespace duogemm::testing
