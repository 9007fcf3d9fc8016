// The judge of products of any size must not be fooled. Everything is in the host's memory: no device needed.
#include "check/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu_backend.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

float* data(const GuardedArray& array) { return reinterpret_cast<float*>(array.array(0)->native()); }

float old_c(const Problem& p, float c) { return p.beta == 0.0f ? 0.0f : p.beta * c; }

// The product as every kernel owes it.
void multiply(const Problem& p, GuardedOperands& sets) {
  for (std::int64_t member = 0; member < p.batch; ++member) {
    const float* a = data(sets.a()) + member * p.a_stride;
    const float* b = data(sets.b()) + member * p.b_stride;
    float* c = data(sets.c()) + member * p.c_stride;
    for (std::int64_t col = 0; col < p.n; ++col) {
      for (std::int64_t row = 0; row < p.m; ++row) {
        float sum = 0.0f;
        for (std::int64_t k = 0; k < p.k; ++k) {
          sum = std::fma(a[p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k],
                         b[p.b_op == Transpose::no ? col * p.ldb + k : k * p.ldb + col], sum);
        }
        float& element = c[col * p.ldc + row];
        element = p.beta == 0.0f ? p.alpha * sum : std::fma(p.alpha, sum, old_c(p, element));
      }
    }
  }
}

class OnHost {
 public:
  explicit OnHost(const std::string& line)
      : problem(parse_shapes("x " + line, "test").front().problem),
        sets(problem, 1, *device_, *queue_),
        judge(problem) {
    multiply(problem, sets);
  }
  Verdict verdict() { return judge.look_at_all(sets, *queue_); }
  float* c() { return data(sets.c()); }

 private:
  std::unique_ptr<Device> device_ = cpu_backend().open(0, {});
  std::unique_ptr<Queue> queue_ = device_->create_queue();

 public:
  const Problem problem;
  GuardedOperands sets;
  Judge judge;
};

class JudgeAccepts : public ::testing::TestWithParam<const char*> {};

TEST_P(JudgeAccepts, TheOwedBits) {
  OnHost host(GetParam());
  const Verdict verdict = host.verdict();
  EXPECT_TRUE(verdict.ok()) << verdict.first_fault;
  EXPECT_EQ(verdict.different_bits, 0u);
  EXPECT_GE(verdict.computed,
            std::min<std::size_t>(static_cast<std::size_t>(host.problem.m * host.problem.n), 288u));
}

INSTANTIATE_TEST_SUITE_P(
    Problems, JudgeAccepts,
    ::testing::Values("5 4 9", "5 4 9 TN beta=-1", "7 3 2 NT lda=9 ldb=8 ldc=11 beta=0.5", "1 1 1 TT",
                      "6 5 4 NN batch=200", "6 5 4 TN batch=9 lda=36 a_stride=4 ldc=54 c_stride=6",
                      "6 5 4 NT batch=3 b_stride=0 beta=1", "310 290 300 TT", "2 900 20000 TN"));

TEST(Judge, SeesOneWrongElementOfASmallProblem) {
  OnHost host("40 30 20");
  host.c()[7 * 40 + 11] *= 1.001f;
  const Verdict verdict = host.verdict();
  EXPECT_GT(verdict.worst_error, 1.0);
  EXPECT_NE(verdict.first_fault.find("C(11, 7) is "), std::string::npos) << verdict.first_fault;
}

TEST(Judge, SeesAWrongRowOfALargeProblem) {
  OnHost host("310 290 300");
  for (std::int64_t col = 0; col < 290; ++col) {
    host.c()[col * 310 + 309] += 0.01f;
  }
  EXPECT_FALSE(host.verdict().ok());
}

TEST(Judge, SeesAnElementThatWasNotWrittenWhereverItIs) {
  OnHost host("310 290 300");
  host.c()[123 * 310 + 45] = std::numeric_limits<float>::quiet_NaN();
  const Verdict verdict = host.verdict();
  EXPECT_EQ(verdict.not_finite, 1u);
  EXPECT_FALSE(verdict.ok());
  EXPECT_NE(verdict.first_fault.find("C[" + std::to_string(123 * 310 + 45) + "]"), std::string::npos);
}

TEST(Judge, SeesWhatWasOverwritten) {
  const auto overwritten_by = [](const std::function<void(OnHost&)>& spoil) {
    OnHost host("6 5 4 NN ldc=8");
    spoil(host);
    const Verdict verdict = host.verdict();
    EXPECT_FALSE(verdict.ok());
    EXPECT_EQ(verdict.overwritten, 1u);
    return verdict.first_fault;
  };
  EXPECT_EQ(overwritten_by([](OnHost& host) { host.c()[6] = 1.0f; }), "C[6] was overwritten");
  EXPECT_EQ(overwritten_by([](OnHost& host) { host.c()[-1] = 1.0f; }), "C[-1] was overwritten");
  EXPECT_EQ(overwritten_by([](OnHost& host) { host.c()[38] = 1.0f; }), "C[38] was overwritten");
  EXPECT_EQ(overwritten_by([](OnHost& host) { data(host.sets.a())[0] += 1.0f; }), "A[0] was overwritten");
  EXPECT_EQ(overwritten_by([](OnHost& host) { data(host.sets.b())[20] = 0.0f; }), "B[20] was overwritten");
}

TEST(Judge, TellsOneBitByTheFingerprint) {
  OnHost host("310 290 300");
  const std::uint64_t before = host.verdict().fingerprint;
  EXPECT_EQ(host.verdict().fingerprint, before);
  float& element = host.c()[150 * 310 + 100];
  element = std::nextafter(element, 2.0f);
  EXPECT_TRUE(host.verdict().ok());
  EXPECT_NE(host.verdict().fingerprint, before);
}

// A batch whose members lie in another order than theirs, at distances that are no stride's, judged to the
// bit.
class Listed {
 public:
  explicit Listed(Guards guards)
      : host_(random_problem(problem(), Distribution::signed_unit, 1)),
        operands_(host_, *device_, *queue_, guards),
        judge_(host_) {
    for (std::size_t member = 0; member < 3; ++member) {
      for (std::int64_t at = 0; at < 6 * 5; ++at) {
        float sum = 0.0f;
        for (std::int64_t k = 0; k < 4; ++k) {
          sum = std::fma(host_.a[index(host_.a_places[member] + k * 6 + at % 6)],
                         host_.b[index(host_.b_places[member] + at / 6 * 4 + k)], sum);
        }
        c(member, at % 6, at / 6) = sum;
      }
    }
  }
  Verdict verdict() { return judge_.look_at_all(operands_, *queue_); }
  float& c(std::size_t member, std::int64_t row, std::int64_t col) {
    return data(operands_.c())[host_.c_places[member] + col * 8 + row];
  }

 private:
  static std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }
  static Problem problem() {
    Problem p = Problem::packed(6, 5, 4);
    p.ldc = 8;
    p.batch = 3;
    p.batch_by = BatchBy::offsets;
    p.a_stride = p.b_stride = p.c_stride = 1;
    return p;
  }

  const std::unique_ptr<Device> device_ = cpu_backend().open(0, {});
  const std::unique_ptr<Queue> queue_ = device_->create_queue();
  const HostProblem host_;
  GuardedOperands operands_;
  const Judge judge_;
};

class JudgeOfAList : public ::testing::TestWithParam<Guards> {};

TEST_P(JudgeOfAList, AcceptsTheOwedBits) {
  const Verdict verdict = Listed(GetParam()).verdict();
  EXPECT_TRUE(verdict.exact()) << verdict.fault();
  EXPECT_EQ(verdict.computed, 90u);
}

TEST_P(JudgeOfAList, SeesOneBit) {
  Listed listed(GetParam());
  float& element = listed.c(0, 5, 4);
  element = std::nextafter(element, 9.0f);
  const Verdict verdict = listed.verdict();
  EXPECT_TRUE(verdict.ok() && !verdict.exact());
  EXPECT_EQ(verdict.fault().find("member 0: C(5, 4) is "), 0u) << verdict.fault();
}

TEST_P(JudgeOfAList, SeesWhatWasOverwrittenBetweenColumnsAndMembers) {
  for (const std::int64_t row : {6, 7}) {
    for (const std::size_t member : {0u, 1u, 2u}) {
      Listed listed(GetParam());
      listed.c(member, row, 3) = 0.0f;
      const Verdict verdict = listed.verdict();
      EXPECT_EQ(verdict.overwritten, 1u);
      EXPECT_FALSE(verdict.ok());
    }
  }
  Listed listed(GetParam());
  listed.c(1, 6, 4) = 0.0f;  // after the last column of one member that another follows
  EXPECT_EQ(listed.verdict().overwritten, 1u);
}

INSTANTIATE_TEST_SUITE_P(Guards, JudgeOfAList, ::testing::Values(Guards::bands, Guards::none),
                         [](const auto& info) { return info.param == Guards::bands ? "bands" : "none"; });

TEST(GuardedOperands, AreAlikeAndTakeTurns) {
  const std::unique_ptr<Device> device = cpu_backend().open(0, {});
  const std::unique_ptr<Queue> queue = device->create_queue();
  const Problem problem = packed_problem(30, 20, 10, "NN", 1);
  const GuardedOperands sets(problem, 3, *device, *queue);
  for (std::size_t turn = 0; turn < 4; ++turn) {
    const auto* a = reinterpret_cast<const float*>(sets.operands(turn)[0].buffer->native());
    EXPECT_EQ(a == data(sets.a()), turn % 3 == 0);
    EXPECT_EQ(a[0], test_data().a.at(0));
    EXPECT_EQ(a[299], test_data().a.at(299));
    EXPECT_TRUE(std::isnan(a[300]));
    EXPECT_TRUE(std::isnan(a[-1]));
  }
  EXPECT_EQ(operand_bytes(problem, 3, device->info()).largest, GuardedArray::bytes(600, 3, device->info()));
}

}  // namespace
}  // namespace duogemm::bench
