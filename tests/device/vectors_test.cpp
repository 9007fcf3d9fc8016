// The pipelined kernel reads and writes in the widest vectors that a problem's storage allows, to the same
// bits.
#include <gtest/gtest.h>

#include <array>

#include "check_plan.h"
#include "families/storage.h"
#include "support/shapes.h"

namespace duogemm::testing {
namespace {

const KernelSpec& pipelined() { return find_kernel("pipelined"); }

// With columns as far apart as the operands are high, and `gap` elements more.
Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, const char* ops, std::int64_t gap) {
  Problem p = bench::packed_problem(m, n, k, ops, 1);
  p.lda += gap;
  p.ldb += gap;
  p.ldc += gap;
  return p;
}

int width_of(const Problem& problem) { return fixed_tunables(pipelined(), problem)->at("V"); }

TEST(Vectors, AreOfFourWhereAllColumnsOfBothOperandsAllow) {
  EXPECT_EQ(width_of(problem_of(64, 64, 64, "NT", 0)), 4);
  EXPECT_EQ(width_of(problem_of(66, 64, 64, "NT", 0)), 1);
  EXPECT_EQ(width_of(problem_of(64, 65, 64, "NT", 0)), 1);
  EXPECT_EQ(width_of(problem_of(64, 67, 63, "NN", 0)), 4) << "B is transposed value by value beside A";
  EXPECT_EQ(width_of(problem_of(65, 65, 64, "TN", 0)), 4) << "only C has odd columns";
  EXPECT_EQ(width_of(problem_of(64, 64, 64, "NT", 4)), 4);
  EXPECT_EQ(width_of(problem_of(64, 64, 64, "NT", 1)), 1);
  EXPECT_EQ(width_of(problem_of(61, 64, 64, "NT", 3)), 1) << "a last vector would end in the gap";
  Problem batch = problem_of(64, 64, 64, "NT", 0);
  batch.batch = 3;
  batch.a_stride = 64 * 64;
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

TEST(Vectors, AreNotTriedWithACompilerThatMakesWrongCode) {
  DeviceInfo info;
  info.platform = "Portable Computing Language";
  const auto with = [&](const char* version) {
    info.platform_version = version;
    return miscompiles_pipelined(info);
  };
  EXPECT_FALSE(with("OpenCL 1.2 pocl 1.1 None+Asserts, LLVM 6.0.0"));
  EXPECT_FALSE(with("OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC, SPIR, LLVM 15.0.6"));
  EXPECT_TRUE(with("OpenCL 3.0 PoCL 5.0+debian  Linux, None+Asserts, RELOC, SPIR, LLVM 16.0.6"));
  EXPECT_FALSE(with("OpenCL 3.0 PoCL 6.0  Linux, Release, RELOC, LLVM 18.1.8"));
  info.platform = "NVIDIA CUDA";
  EXPECT_FALSE(with("OpenCL 3.0 CUDA 13.0.84"));
}

class Widths : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
    if (miscompiles_pipelined(device.device->info())) {
      GTEST_SKIP() << device.device->info().platform_version
                   << ": PoCL 4 and 5 may make wrong code of this kernel, which can end the process";
    }
  }
};

struct VectorsCase {
  const char* ops;
  Tunables tunables;
};

// That the schedule gives the very bits of the problem, with scalars that depend on the seed.
void expect_right(const ScheduleRequest& request, Problem problem, std::uint32_t seed, TestDevice& on) {
  problem.alpha = 0.5f;
  problem.beta = seed % 2 == 1 ? 0.0f : -1.5f;
  const HostProblem host = random_problem(problem, Distribution::wide_range, seed);
  const Plan plan = plan_of(request, problem, on.device->info());
  SCOPED_TRACE(to_text(plan.steps.at(plan.multiply).kernel->tunables));
  const Verdict found = check_plan(plan, host, on);
  EXPECT_TRUE(found.exact()) << found.fault();
}

TEST_P(Widths, AllGiveTheSameBits) {
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  const Tunables through_registers = {{"TSM", 64}, {"TSN", 32}, {"WPTM", 8}, {"WPTN", 4}};
  const Tunables transposed_on_the_way = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}, {"TRANSPOSE_ASYNC", 1}};
  const Tunables by_thirds = {{"TSM", 64}, {"TSN", 48}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}};
  std::uint32_t seed = 0;
  for (const auto& [ops, tunables] :
       {VectorsCase{"NN", through_registers}, VectorsCase{"NT", through_registers},
        VectorsCase{"TN", through_registers}, VectorsCase{"NN", transposed_on_the_way},
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
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  const Tunables tunables = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}, {"TRANSPOSE_ASYNC", 1}};
  for (const char* ops : {"NN", "TT"}) {
    expect_right({&pipelined(), tunables, 1, false, ops[0] == 'N', ops[1] == 'T'},
                 problem_of(135, 131, 53, ops, 0), 1, device);
  }
}

// Small tiles, tall ones and such with a third of a power of two swizzle their columns in different ways.
TEST_P(Widths, AllGiveTheSameBitsWhenCountedInBytes) {
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  const Tunables through_registers = {{"TSM", 32}, {"TSN", 48}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}};
  const Tunables tall = {{"TSM", 128},    {"TSN", 16},   {"WPTM", 8},    {"WPTN", 4},
                         {"LANES_M", 16}, {"STAGES", 3}, {"LANES_K", 8}, {"TRANSPOSE_ASYNC", 1}};
  const Tunables by_thirds = {{"TSM", 96},    {"TSN", 64},       {"WPTM", 8},    {"WPTN", 8},
                              {"LANES_M", 4}, {"LANE_ORDER", 1}, {"LANES_K", 4}, {"TRANSPOSE_ASYNC", 1}};
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
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  const Tunables large = {{"TSM", 64}, {"TSN", 64}, {"TSK", 8}, {"WPTM", 8}, {"WPTN", 8}, {"STAGES", 2}};
  expect_right({&pipelined(), large}, problem_of(131, 67, 52, "TN", 0), 1, device);
  expect_right({&pipelined(), large}, problem_of(131, 67, 53, "NT", 0), 2, device);
  expect_right({&pipelined(), large}, problem_of(132, 67, 53, "NT", 0), 3, device);
}

INSTANTIATE_TEST_SUITE_P(Vectors, Widths, ::testing::ValuesIn(test_devices()), device_name);

// Nothing of which is left to transpose, so that PoCL 4 and 5 need not be left out.
class PackedBatches : public ::testing::TestWithParam<DeviceName> {};

// Both operands of a batch at once, or one after the other where its members share A.
TEST_P(PackedBatches, GiveTheSameBits) {
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  const Tunables tunables = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}};
  std::uint32_t seed = 0;
  for (const char* ops : {"NN", "TT"}) {
    for (const bool shares_a : {false, true}) {
      Problem batch = problem_of(35, 70, 21, ops, 1);
      batch.batch = 3;
      batch.a_stride = shares_a ? 0 : batch.a_elements() + 1;
      batch.b_stride = batch.b_elements() + 2;
      batch.c_stride = batch.c_elements() + 3;
      expect_right({&pipelined(), tunables, 1, false, true, true}, batch, ++seed, device);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, PackedBatches, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
