// The pipelined kernel reads and writes in the widest vectors that a problem's storage allows, to the same
// bits.
#include <gtest/gtest.h>

#include "gemm_parts.h"
#include "guarded_run.h"
#include "planner.h"
#include "shapes.h"
#include "test_devices.h"

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

Tunables dictated(const Problem& problem) { return pipelined().dictated(problem).value(); }

TEST(Vectors, AreAsWideAsColumnsAllow) {
  const auto widths = [](const Problem& problem) {
    const Tunables found = dictated(problem);
    return std::vector{at(found, "VA"), at(found, "VB"), at(found, "VC")};
  };
  EXPECT_EQ(widths(problem_of(64, 64, 64, "NT", 0)), (std::vector{4, 4, 4}));
  EXPECT_EQ(widths(problem_of(66, 70, 64, "NT", 0)), (std::vector{2, 2, 2}));
  EXPECT_EQ(widths(problem_of(65, 64, 64, "NT", 0)), (std::vector{1, 4, 1}));
  EXPECT_EQ(widths(problem_of(1001, 1001, 100, "NT", 3)), (std::vector{4, 4, 4})) << "the last is ragged";
  EXPECT_EQ(widths(problem_of(66, 64, 64, "NT", 0)), (std::vector{2, 4, 1})) << "which was measured";
  EXPECT_EQ(widths(problem_of(64, 64, 64, "NT", 2)), (std::vector{2, 2, 2}));
  EXPECT_EQ(widths(problem_of(66, 64, 64, "NT", 2)), (std::vector{2, 2, 2})) << "a last vector is whole, too";
  EXPECT_EQ(widths(problem_of(65, 65, 64, "TN", 0)), (std::vector{4, 4, 1}));
  EXPECT_EQ(widths(problem_of(64, 64, 64, "NT", 1)), (std::vector{1, 1, 1}));
  EXPECT_EQ(widths(problem_of(64, 65, 63, "TT", 0)), (std::vector{1, 1, 4})) << "short sums: C is most of it";
  EXPECT_EQ(widths(problem_of(64, 65, 65, "TT", 0)), (std::vector{1, 1, 1}));
  Problem batch = problem_of(64, 64, 64, "NT", 0);
  batch.batch = 3;
  batch.a_stride = 64 * 64 + 2;
  batch.b_stride = 0;
  batch.c_stride = 64 * 64 + 1;
  EXPECT_EQ(widths(batch), (std::vector{2, 4, 1}));
  batch.a_aligned = false;
  EXPECT_EQ(widths(batch), (std::vector{1, 4, 1}));
}

TEST(Vectors, AreTimedAsSinglesWhereTheyAreNotOfFour) {
  const auto timed = [](const Problem& problem) { return pipelined().timed_as(dictated(problem), {}); };
  EXPECT_EQ(timed(problem_of(66, 66, 64, "NT", 0)), timed(problem_of(65, 65, 64, "NT", 0)));
  EXPECT_EQ(timed(problem_of(500, 500, 64, "NT", 0)), timed(problem_of(512, 512, 64, "NT", 0)));
}

TEST(Vectors, AreShiftedWhereCopiesShareSectors) {
  const auto shifted = [](const Problem& problem) { return at(dictated(problem), "SHIFTED"); };
  EXPECT_EQ(shifted(problem_of(64, 64, 64, "NT", 0)), 0);
  EXPECT_EQ(shifted(problem_of(64, 64, 64, "NT", 4)), 1);
  EXPECT_EQ(shifted(problem_of(64, 64, 64, "NT", 8)), 0);
  EXPECT_EQ(shifted(problem_of(64, 64, 64, "TN", 4)), 0) << "operands that are turned are not copied along";
  EXPECT_EQ(shifted(problem_of(66, 66, 64, "NT", 0)), 0) << "only vectors of four can pass by the cache";
}

TEST(Vectors, AreRaggedWhereTheyGoBeyondTheMatrix) {
  const auto ragged = [](const Problem& problem) { return at(dictated(problem), "RAGGED") == 1; };
  EXPECT_TRUE(ragged(problem_of(1001, 1000, 100, "NT", 3)));
  EXPECT_TRUE(ragged(problem_of(1000, 1001, 100, "NT", 3)));
  EXPECT_FALSE(ragged(problem_of(1000, 1000, 100, "NT", 4)));
  EXPECT_FALSE(ragged(problem_of(1001, 1003, 100, "NT", 0))) << "single values";
  EXPECT_FALSE(ragged(problem_of(1001, 1001, 101, "TN", 3))) << "only C has columns that end so";
  EXPECT_FALSE(ragged(problem_of(65, 64, 64, "NT", 3))) << "too small for that to pay";
  EXPECT_FALSE(ragged(repacked(problem_of(1001, 1001, 101, "NN", 3), {true, true})));
}

TEST(Vectors, LetOperandsBeThatAreTurnedOnTheWay) {
  const auto found = [](const char* ops, bool turning) {
    return copied_by_repacking(pipelined(), problem_of(65, 67, 63, ops, 0), turning);
  };
  const auto copied = [&](const char* ops, bool turning) {
    return std::pair{found(ops, turning).a, found(ops, turning).b};
  };
  EXPECT_EQ(copied("NN", false), std::pair(true, true));
  EXPECT_EQ(copied("NN", true), std::pair(true, false));
  EXPECT_EQ(copied("TT", true), std::pair(false, true));
  EXPECT_EQ(copied("TN", true), std::pair(false, false));
  EXPECT_EQ(copied("NT", true), std::pair(true, true));
  const Problem wanted = repacked(problem_of(65, 67, 63, "NN", 0), found("NN", true));
  EXPECT_EQ(at(dictated(wanted), "VA"), 4);
  EXPECT_EQ(at(dictated(wanted), "TRANS_B"), 0);
  EXPECT_EQ(wanted.ldb, 63);
}

class Widths : public ::testing::TestWithParam<DeviceName> {};

struct Case {
  const char* ops;
  Tunables tunables;
};

// That the choice gives the very bits of the problem, with scalars that depend on the seed.
void expect_right(const Choice& choice, Problem problem, std::uint32_t seed, TestDevice& on) {
  problem.alpha = 0.5f;
  problem.beta = seed % 2 == 1 ? 0.0f : -1.5f;
  const HostProblem host = random_problem(problem, Distribution::wide_range, seed);
  const Plan plan = carry_out(choice, problem, on.device->info());
  SCOPED_TRACE(to_text(plan.steps.at(plan.multiply).tunables));
  GuardedOperands operands(host, *on.device, *on.queue);
  SelfContainedPlan(plan, *on.device, *on.programs).enqueue(*on.queue, operands.operands());
  const Comparison found = operands.compare(oracles_of(host), *on.queue);
  EXPECT_TRUE(found.ok()) << found.first_fault;
}

TEST_P(Widths, AllGiveTheSameBits) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  const Tunables through_registers = {{"TSM", 64}, {"TSN", 32}, {"WPTM", 8}, {"WPTN", 4}};
  const Tunables turned_on_the_way = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}, {"TURN_ASYNC", 1}};
  const Tunables by_thirds = {{"TSM", 64}, {"TSN", 48}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}};
  std::uint32_t seed = 0;
  for (const auto& [ops, tunables] :
       {Case{"NN", through_registers}, Case{"NT", through_registers}, Case{"TN", through_registers},
        Case{"TT", through_registers}, Case{"NN", turned_on_the_way}, Case{"NT", by_thirds}}) {
    for (const std::int64_t size : {132, 134}) {
      for (const std::int64_t gap : {0, 4}) {
        expect_right({&pipelined(), tunables}, problem_of(size, size + 4, 50 + gap, ops, gap), ++seed,
                     device);
      }
    }
    expect_right({&pipelined(), tunables}, problem_of(132, 131, 21, ops, 0), ++seed, device);
    for (const std::int64_t k : {5696, 5701}) {
      for (const std::int64_t gap : {1, 3}) {
        expect_right({&pipelined(), tunables}, problem_of(131, 135, k, ops, gap), ++seed, device);
      }
    }
  }
}

TEST_P(Widths, AllGiveTheSameBitsWhenOneOperandIsCopiedFirst) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  const Tunables tunables = {{"TSM", 32}, {"TSN", 32}, {"WPTM", 4}, {"TURN_ASYNC", 1}};
  for (const char* ops : {"NN", "TT"}) {
    expect_right({&pipelined(), tunables, 1, true, true}, problem_of(135, 131, 53, ops, 0), 1, device);
  }
}

// Small tiles, tall ones and such with a third of a power of two exchange their columns in different ways.
TEST_P(Widths, AllGiveTheSameBitsWhenCountedInBytes) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  const Tunables through_registers = {{"TSM", 32}, {"TSN", 48}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}};
  const Tunables tall = {{"TSM", 128},    {"TSN", 16},   {"WPTM", 8},    {"WPTN", 4},
                         {"LANES_M", 16}, {"STAGES", 3}, {"LANES_K", 8}, {"TURN_ASYNC", 1}};
  const Tunables by_thirds = {{"TSM", 96},    {"TSN", 64},    {"WPTM", 8},    {"WPTN", 8},
                              {"LANES_M", 4}, {"SQUARES", 1}, {"LANES_K", 4}, {"TURN_ASYNC", 1}};
  std::uint32_t seed = 0;
  for (auto [ops, tunables] :
       {Case{"TN", through_registers}, Case{"TN", tall}, Case{"NT", tall}, Case{"TN", by_thirds}}) {
    tunables["BYTES"] = 1;
    expect_right({&pipelined(), tunables}, problem_of(132, 68, 53, ops, 0), ++seed, device);
    expect_right({&pipelined(), tunables}, problem_of(131, 67, 48, ops, 0), ++seed, device);
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, Widths, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

}  // namespace
}  // namespace duogemm::testing
