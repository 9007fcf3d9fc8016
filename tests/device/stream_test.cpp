// Products whose operands are larger than the device's memory may be, on every device: with limits of a few
// kilobytes, so that there are many blocks.
#include <cstdlib>
#include <thread>

#include "check/inputs.h"
#include "check/oracle.h"
#include "problem/problem.h"
#include "random_sgemm.h"
#include "refusal.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

class Streamed : public ContextTest {
 protected:
  Context limited(std::size_t bytes) { return Context(GetParam().selection(), {.device_memory = bytes}); }
};

void expect_right_in_blocks(const HostProblem& host, const std::vector<float>& c) {
  const Verdict found = Oracle(host.problem, host.a, host.b, host.c).compare(c);
  EXPECT_TRUE(host.problem.level == Reproducibility::everywhere ? found.exact() : found.ok())
      << found.fault();
}

TEST_P(Streamed, RandomProblemsInLittleMemory) {
  std::uint32_t seed = 6000;
  for (const std::size_t bytes : {50'000, 80'000, 150'000}) {
    Context context = limited(bytes);
    for (int i = 0; i < 60; ++i) {
      check_random_sgemm(seed++, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
        context.sgemm(request, a.data(), b.data(), c.data());
      });
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
    expect_right_in_blocks(host, c);
  }
}

TEST_P(Streamed, TooLittleMemoryIsRefusedAndCIsUntouched) {
  Context context = limited(100'000);
  Problem p = Problem::packed(20, 20, 50'000, 1.0f, 1.0f);
  p.level = Reproducibility::everywhere;
  const HostProblem host = random_problem(p, Distribution::signed_unit, 1);
  std::vector<float> c = host.c;
  const std::string said = refusal(
      [&] { context.sgemm(request_of(p), host.a.data(), host.b.data(), c.data()); }, Status::out_of_memory);
  EXPECT_NE(said.find("which have all of k"), std::string::npos) << said;
  EXPECT_EQ(c, host.c);
  p.level = Reproducibility::run_to_run;
  context.sgemm(request_of(p), host.a.data(), host.b.data(), c.data());
  expect_right_in_blocks({p, host.a, host.b, host.c, {}, {}, {}}, c);
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
  expect_right_in_blocks(host, c);
}

INSTANTIATE_TEST_SUITE_P(Devices, Streamed, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
