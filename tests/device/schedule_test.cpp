// Schedules that small problems seldom have: more tiles along m than a strip has, and numbers of splits of k
// that the work-items which add them up do not divide.
#include <gtest/gtest.h>

#include "check_plan.h"

namespace duogemm::testing {
namespace {

class Schedules : public ::testing::TestWithParam<DeviceName> {
 protected:
  static void expect_right(const std::string& text, const Problem& problem, TestDevice& on) {
    const Plan steps = plan_of(parse_schedule(text), problem, on.device->info());
    const Verdict found = check_plan(steps, random_problem(problem, Distribution::signed_unit, 1), on);
    EXPECT_TRUE(text.find("slices") != std::string::npos ? found.ok() : found.exact())
        << text << ": " << found.fault();
    launched_ = steps.steps.back().kernel->tunables;
  }

  static inline Tunables launched_;  // with what the last step was
};

const std::string small = "pipelined:TSM=32,TSN=32,TSK=8,WPTM=4,WPTN=4,LANES_M=8,STAGES=2";

// Strips have eight tiles along m: one, and another that is not full.
TEST_P(Schedules, CoverTheLastStripOfTiles) {
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  if (miscompiles_pipelined(device.device->info())) {
    GTEST_SKIP() << "PoCL 4 and 5 make wrong code of the kernel";
  }
  for (const std::int64_t m : {256, 257, 300, 512, 545}) {
    expect_right(small, Problem::packed(m, 70, 40, 1.5f, 0.5f), device);
  }
}

// As many work-items as add up an element's splits, and one more or less; for more elements there is one
// each.
TEST_P(Schedules, AddUpAnyNumberOfSlices) {
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  if (miscompiles_pipelined(device.device->info())) {
    GTEST_SKIP() << "PoCL 4 and 5 make wrong code of the kernel";
  }
  const auto add_up = [&](std::int64_t m, std::int64_t splits) {
    Problem problem = Problem::packed(m, 33, 8 * splits, 1.5f, 0.5f);
    problem.batch = 2;
    problem.a_stride = problem.a_elements();
    problem.b_stride = problem.b_elements();
    problem.c_stride = problem.c_elements();
    expect_right(small + ",slices=" + std::to_string(splits), problem, device);
    return launched_.at("ITEMS");
  };
  for (const std::int64_t splits : {2, 3, 15}) {
    EXPECT_EQ(add_up(35, splits), 1) << splits;
  }
  for (const std::int64_t splits : {16, 17, 23, 24, 127}) {
    EXPECT_EQ(add_up(35, splits), 8) << splits;
  }
  for (const std::int64_t splits : {128, 129, 161}) {
    EXPECT_EQ(add_up(35, splits), 32) << splits;
  }
  EXPECT_EQ(add_up(1000, 17), 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, Schedules, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
