// Products whose operands are larger than the device's memory may be, on every device: with limits of a few
// kilobytes, so that there are many blocks.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "check/inputs.h"
#include "check/oracle.h"
#include "context_test.h"
#include "problem/problem.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

class Streamed : public ContextTest {
 protected:
  Context limited(std::size_t bytes) { return Context(GetParam().selection(), {.device_memory = bytes}); }
};

Problem random_shape(std::mt19937& random) {
  const auto size = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  Problem p = Problem::packed(size(200), size(200), size(300), 1.5f, random() % 2 == 0 ? 0.0f : -0.5f);
  p.a_op = random() % 2 == 0 ? Transpose::no : Transpose::yes;
  p.b_op = random() % 2 == 0 ? Transpose::no : Transpose::yes;
  p.lda = p.a_rows() + size(4) - 1;
  p.ldb = p.b_rows() + size(4) - 1;
  p.ldc = p.m + size(4) - 1;
  p.level = random() % 2 == 0 ? Reproducibility::run_to_run : Reproducibility::everywhere;
  p.batch = random() % 3 == 0 ? size(4) : 1;
  p.a_stride = random() % 3 == 0 ? 0 : p.a_elements() + 3;
  p.b_stride = random() % 3 == 0 ? 0 : p.b_elements() + 5;
  p.c_stride = p.c_elements() + 7;
  return p;
}

std::string name_of(const Problem& p) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + ", batch " +
         std::to_string(p.batch) + (p.level == Reproducibility::everywhere ? ", everywhere" : "");
}

// The elements of C are right, and those around them are as they were.
void expect_right(const HostProblem& host, const std::vector<float>& c) {
  const Problem& p = host.problem;
  std::vector<float> around = c;
  for (std::int64_t i = 0; i < p.batch; ++i) {
    const auto from = [&](const std::vector<float>& all, std::int64_t stride) {
      return std::span(all).subspan(static_cast<std::size_t>(i * stride));
    };
    const Oracle oracle(p, from(host.a, p.a_stride), from(host.b, p.b_stride), from(host.c, p.c_stride));
    const Verdict found = oracle.compare(from(c, p.c_stride));
    EXPECT_TRUE(p.level == Reproducibility::everywhere ? found.exact() : found.ok()) << found.fault();
    for (std::int64_t col = 0; col < p.n; ++col) {
      const auto first = static_cast<std::ptrdiff_t>(i * p.c_stride + col * p.ldc);
      std::copy_n(host.c.begin() + first, p.m, around.begin() + first);
    }
  }
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  EXPECT_TRUE(std::equal(around.begin(), around.end(), host.c.begin(), [&](float x, float y) {
    return bits(x) == bits(y);
  })) << "something around C has changed";
}

TEST_P(Streamed, RandomShapesInLittleMemory) {
  std::mt19937 random(11);
  for (const std::size_t bytes : {90'000, 150'000, 400'000}) {
    Context context = limited(bytes);
    for (int i = 0; i < 25; ++i) {
      const Problem p = random_shape(random);
      SCOPED_TRACE(name_of(p) + " in " + std::to_string(bytes));
      const HostProblem host = random_problem(p, Distribution::wide_range, static_cast<std::uint32_t>(i));
      std::vector<float> c = host.c;
      context.sgemm(request_of(p), host.a.data(), host.b.data(), c.data());
      expect_right(host, c);
      std::vector<float> again = host.c;
      context.sgemm(request_of(p), host.a.data(), host.b.data(), again.data());
      EXPECT_EQ(0, std::memcmp(c.data(), again.data(), sizeof(float) * c.size())) << "other bits";
    }
  }
}

// With copies by several threads.
TEST_P(Streamed, SeveralMegabytes) {
  Context context = limited(1 << 20);
  for (const auto level : {Reproducibility::run_to_run, Reproducibility::everywhere}) {
    Problem p = Problem::packed(1100, 1000, 100, 1.0f, 1.0f);
    p.level = level;
    p.ldc += 3;
    const HostProblem host = random_problem(p, Distribution::signed_unit, 3);
    std::vector<float> c = host.c;
    double fraction = 0.0;
    const std::thread::id caller = std::this_thread::get_id();
    context.sgemm(request_of(p), host.a.data(), host.b.data(), c.data(), [&](const CallProgress& now) {
      EXPECT_GT(now.fraction, fraction);
      EXPECT_EQ(std::this_thread::get_id(), caller);
      fraction = now.fraction;
    });
    EXPECT_EQ(fraction, 1.0);
    expect_right(host, c);
  }
}

TEST_P(Streamed, TooLittleMemoryIsRefusedAndCIsUntouched) {
  Context context = limited(100'000);
  Problem p = Problem::packed(20, 20, 50'000, 1.0f, 1.0f);
  p.level = Reproducibility::everywhere;
  const HostProblem host = random_problem(p, Distribution::signed_unit, 1);
  std::vector<float> c = host.c;
  try {
    context.sgemm(request_of(p), host.a.data(), host.b.data(), c.data());
    ADD_FAILURE() << "it fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("which have all of k"), std::string::npos) << error.what();
  }
  EXPECT_EQ(c, host.c);
  p.level = Reproducibility::run_to_run;
  context.sgemm(request_of(p), host.a.data(), host.b.data(), c.data());
  expect_right({p, host.a, host.b, host.c, {}, {}, {}}, c);
}

TEST_P(Streamed, TheEnvironmentSetsTheLimit) {
  setenv("DUOGEMM_DEVICE_MEMORY", "4Q", 1);
  EXPECT_EQ(refusal([&] { Context wrong(GetParam().selection()); }).rfind("DUOGEMM_DEVICE_MEMORY '4Q': ", 0),
            0u);
  setenv("DUOGEMM_DEVICE_MEMORY", "100K", 1);
  Context context(GetParam().selection());
  unsetenv("DUOGEMM_DEVICE_MEMORY");
  const HostProblem host = random_problem(Problem::packed(150, 150, 150), Distribution::signed_unit, 1);
  std::vector<float> c = host.c;
  std::size_t reports = 0;
  context.sgemm(request_of(host.problem), host.a.data(), host.b.data(), c.data(),
                [&](const CallProgress&) { ++reports; });
  EXPECT_GT(reports, 2u);
  expect_right(host, c);
}

INSTANTIATE_TEST_SUITE_P(Devices, Streamed, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
