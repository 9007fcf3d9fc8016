// The pipelined kernel reads and writes in the widest vectors that a problem's storage allows, to the same
// bits, whatever its schedule.
#include <gtest/gtest.h>

#include <array>

#include "check_plan.h"
#include "devices.h"
#include "families/kernel_parts.h"
#include "support/shapes.h"

namespace duogemm::testing {
namespace {

const KernelSpec& pipelined() { return find_kernel("pipelined"); }

int width_of(const Problem& problem) { return fixed_tunables(pipelined(), problem)->at("V"); }

TEST(Vectors, AreOfFourWhereAllColumnsOfBothOperandsAllow) {
  EXPECT_EQ(width_of(problem_of(64, 64, 64, "NT", 0)), 4);
  EXPECT_EQ(width_of(problem_of(66, 64, 64, "NT", 0)), 1);
  EXPECT_EQ(width_of(problem_of(64, 65, 64, "NT", 0)), 1);
  EXPECT_EQ(width_of(problem_of(64, 67, 63, "NN", 0)), 1) << "A alone";
  EXPECT_EQ(width_of(problem_of(65, 65, 64, "TN", 0)), 4) << "only C has odd columns";
  EXPECT_EQ(width_of(problem_of(64, 64, 64, "NT", 4)), 4);
  EXPECT_EQ(width_of(problem_of(64, 64, 64, "NT", 1)), 1);
  EXPECT_EQ(width_of(problem_of(61, 64, 64, "NT", 3)), 1) << "a last vector would end in the gap";
  Problem batch = problem_of(64, 64, 64, "NT", 0, 3);
  EXPECT_EQ(width_of(batch), 4);
  batch.a_aligned = false;
  EXPECT_EQ(width_of(batch), 1);
  batch.a_aligned = true;
  batch.b_aligned = false;
  EXPECT_EQ(width_of(batch), 1);
  batch.b_aligned = true;
  batch.a_stride = 64 * 64 + 2;
  EXPECT_EQ(width_of(batch), 1);
}

TEST(Vectors, AreWhatPackingIsFor) {
  const Problem odd = problem_of(65, 67, 63, "NN", 0);
  EXPECT_EQ(width_of(odd), 1);
  const Problem both = packed(odd, true, true);
  EXPECT_EQ(width_of(both), 4);
  EXPECT_EQ(fixed_tunables(pipelined(), both)->at("TRANS_B"), 1);
  const Problem one = packed(problem_of(65, 67, 64, "NN", 0), true, false);
  EXPECT_EQ(width_of(one), 4);
  EXPECT_EQ(fixed_tunables(pipelined(), one)->at("TRANS_B"), 0);
  EXPECT_EQ(one.ldb, 64);
}

class Widths : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
    if (miscompiles_pipelined(device.device->info())) {
      GTEST_SKIP() << "PoCL 4 and 5 may make wrong code of this kernel, which can end the process";
    }
  }
};
class Schedules : public Widths {};

struct VectorsCase {
  const char* ops;
  Tunables tunables;
};

// That the schedule gives the bits of the problem, or with splits of k something within the bound. Answers
// the tunables of the last step. The scalars depend on the seed.
Tunables expect_right(const ScheduleRequest& request, Problem problem, std::uint32_t seed, TestDevice& on) {
  problem.alpha = 0.5f;
  problem.beta = seed % 2 == 1 ? 0.0f : -1.5f;
  const HostProblem host = random_problem(problem, Distribution::wide_range, seed);
  const Plan plan = plan_of(request, problem, on.device->info());
  SCOPED_TRACE(describe(plan));
  const Verdict found = run_plan(plan, host, on).verdict;
  EXPECT_TRUE(request.splits > 1 ? found.ok() : found.exact()) << found.fault();
  return plan.steps.back().kernel->tunables;
}

TEST_P(Widths, AllGiveTheSameBits) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  const Tunables through_registers = {{"TSM", 64}, {"TSN", 32}, {"WPTM", 8}, {"WPTN", 4}};
  const Tunables transposed_in_registers = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}, {"K_MAJOR", 1}};
  const Tunables by_thirds = {{"TSM", 64}, {"TSN", 48}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}};
  std::uint32_t seed = 0;
  for (const auto& [ops, tunables] :
       {VectorsCase{"NN", through_registers}, VectorsCase{"NT", through_registers},
        VectorsCase{"TN", through_registers}, VectorsCase{"NN", transposed_in_registers},
        VectorsCase{"TN", transposed_in_registers}, VectorsCase{"TT", transposed_in_registers},
        VectorsCase{"NT", by_thirds}}) {
    for (const auto& [m, n, k, gap] : {std::array<std::int64_t, 4>{132, 136, 50, 0},
                                       {134, 138, 54, 4},
                                       {132, 131, 21, 0},
                                       {131, 135, 5701, 1},
                                       {131, 135, 5701, 3}}) {
      expect_right({&pipelined(), tunables}, problem_of(m, n, k, ops, gap), ++seed, device);
    }
  }
}

TEST_P(Widths, AllGiveTheSameBitsWhenOneOperandIsCopiedFirst) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  const Tunables tunables = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}, {"K_MAJOR", 1}};
  for (const char* ops : {"NN", "TT"}) {
    expect_right({&pipelined(), tunables, 1, false, ops[0] == 'N', ops[1] == 'T'},
                 problem_of(135, 131, 53, ops, 0), 1, device);
  }
}

// Small tiles, tall ones and such with a third of a power of two swizzle their columns in different ways.
TEST_P(Widths, AllGiveTheSameBitsWhenCountedInBytes) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  const Tunables through_registers = {{"TSM", 32}, {"TSN", 48}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}};
  const Tunables tall = {{"TSM", 128},    {"TSN", 16},   {"WPTM", 8},    {"WPTN", 4},
                         {"LANES_M", 16}, {"STAGES", 2}, {"K_MAJOR", 1}, {"TSK", 32}};
  const Tunables by_thirds = {{"TSM", 96},    {"TSN", 64},       {"WPTM", 8},    {"WPTN", 8},
                              {"LANES_M", 4}, {"LANE_ORDER", 1}, {"K_MAJOR", 1}, {"TSK", 8}};
  std::uint32_t seed = 0;
  for (auto [ops, tunables] :
       {VectorsCase{"TN", through_registers}, VectorsCase{"TN", tall}, VectorsCase{"TN", by_thirds}}) {
    tunables["BYTES"] = 1;
    expect_right({&pipelined(), tunables}, problem_of(132, 68, 53, ops, 0), ++seed, device);
    expect_right({&pipelined(), tunables}, problem_of(131, 67, 48, ops, 0), ++seed, device);
  }
}

// C goes through local memory, which does not take all sums at once, in vectors and in single values.
TEST_P(Widths, AllGiveTheSameBitsWhenWrittenInRounds) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  const Tunables large = {{"TSM", 64}, {"TSN", 64}, {"TSK", 8}, {"WPTM", 8}, {"WPTN", 8}, {"STAGES", 2}};
  expect_right({&pipelined(), large}, problem_of(131, 67, 52, "TN", 0), 1, device);
  expect_right({&pipelined(), large}, problem_of(131, 67, 53, "NT", 0), 2, device);
  expect_right({&pipelined(), large}, problem_of(132, 67, 53, "NT", 0), 3, device);
  // Rounds that end within a group of four columns.
  for (const int stages : {3, 4}) {
    const Tunables wide = {{"TSM", 128}, {"TSN", 128},   {"TSK", 8},        {"WPTM", 4},
                           {"WPTN", 16}, {"LANES_M", 8}, {"STAGES", stages}};
    expect_right({&pipelined(), wide}, problem_of(132, 131, 53, "TN", 0), 4, device);
    expect_right({&pipelined(), wide}, problem_of(131, 131, 53, "NN", 0), 5, device);
  }
}

// Schedules that small problems seldom have.
const std::string small = "pipelined:TSM=32,TSN=32,TSK=8,WPTM=4,WPTN=4,LANES_M=8,STAGES=2";

// Strips have eight tiles along m: one, and another that is not full.
TEST_P(Schedules, CoverTheLastStripOfTiles) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  for (const std::int64_t m : {256, 257, 300, 512, 545}) {
    expect_right(parse_schedule(small), Problem::packed(m, 70, 40), 2, device);
  }
}

// As many work-items as add up an element's splits, and one more or less; for more elements there is one
// each.
TEST_P(Schedules, AddUpAnyNumberOfSlices) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  const auto add_up = [&](std::int64_t m, std::int64_t splits) {
    const Problem problem = problem_of(m, 33, 8 * splits, "NN", 0, 2);
    const ScheduleRequest request = parse_schedule(small + ",slices=" + std::to_string(splits));
    return expect_right(request, problem, 2, device).at("ITEMS");
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
INSTANTIATE_TEST_SUITE_P(Vectors, Widths, ::testing::ValuesIn(test_devices()), device_name);

// Nothing of which is left to transpose, so that PoCL 4 and 5 need not be left out.
class PackedBatches : public ::testing::TestWithParam<DeviceName> {};

// Both operands of a batch at once, or one after the other where its members share A.
TEST_P(PackedBatches, GiveTheSameBits) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  const Tunables tunables = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}};
  std::uint32_t seed = 0;
  for (const char* ops : {"NN", "TT"}) {
    for (const bool shares_a : {false, true}) {
      Problem batch = problem_of(35, 70, 21, ops, 1, 3);
      batch.a_stride = shares_a ? 0 : batch.a_stride;
      expect_right({&pipelined(), tunables, 1, false, true, true}, batch, ++seed, device);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, PackedBatches, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
