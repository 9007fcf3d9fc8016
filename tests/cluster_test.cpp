// Clusters of work-groups add up parts of k to the same bits as the step does that adds parts up in memory.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "guarded_run.h"
#include "planner.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

// A kernel, with tunables that the problem leaves open, and a problem whose sizes no tile divides.
struct Case {
  const char* name;
  const char* kernel;
  Tunables tunables;
  Problem problem;
};

Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, Transpose a_op, Transpose b_op,
                   std::int64_t batch = 1) {
  Problem p = Problem::packed(m, n, k, 0.5f, -1.5f);
  p.a_op = a_op;
  p.b_op = b_op;
  p.lda = a_op == Transpose::no ? m : k;
  p.ldb = b_op == Transpose::no ? k : n;
  p.batch = batch;
  p.a_stride = m * k;
  p.b_stride = k * n;
  p.c_stride = m * n;
  return p;
}

std::vector<Case> cases() {
  constexpr Transpose no = Transpose::no;
  constexpr Transpose yes = Transpose::yes;
  const Tunables wide = {{"TSM", 128}, {"TSN", 128}, {"WPTM", 8}, {"WPTN", 8}, {"LANES_M", 4}, {"STAGES", 2}};
  const Tunables flat = {{"TSM", 256}, {"TSN", 64}, {"WPTM", 8}, {"WPTN", 16}, {"LANES_M", 8}};
  const Tunables one_column = {{"TSM", 256}, {"TSN", 32}, {"TSK", 8},
                               {"WPTM", 16}, {"WPTN", 4}, {"LANES_M", 4}};
  const Tunables small = {{"TSM", 64}, {"TSN", 8}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 16}};
  return {{"vectors", "pipelined", wide, problem_of(196, 300, 300, no, yes)},
          {"single", "pipelined", wide, problem_of(197, 301, 300, no, no)},
          {"turned", "pipelined", flat, problem_of(260, 70, 555, yes, no)},
          {"in_passes", "pipelined", one_column, problem_of(300, 50, 256, no, yes)},
          {"batch", "pipelined", small, problem_of(100, 12, 256, no, no, 5)},
          {"columns", "thin_columns", {{"LANES", 16}, {"SLICES", 4}}, problem_of(333, 3, 700, no, no)},
          {"columns_of_batch", "thin_columns", {{"SLICES", 1}}, problem_of(1, 500, 300, no, yes, 3)},
          {"dots", "thin_dots", {{"LANES", 8}}, problem_of(333, 4, 700, yes, no)},
          {"dots_of_batch", "thin_dots", {{"LANES", 32}}, problem_of(2, 90, 400, no, no, 3)}};
}

std::vector<std::uint32_t> bits_of(const Choice& choice, const HostProblem& host, TestDevice& on) {
  const SelfContainedPlan plan(carry_out(choice, host.problem, on.device->info()), *on.device, *on.programs);
  GuardedOperands operands(host, *on.device, *on.queue);
  plan.enqueue(*on.queue, operands.operands());
  const std::vector<Oracle> oracles = oracles_of(host);
  const Comparison found = operands.compare(oracles, *on.queue);
  EXPECT_TRUE(found.within_bound() && found.overwritten == 0) << to_text(choice) << ": " << found.first_fault;
  std::vector<float> c(host.c.size());
  on.queue->read(*operands.operands()[2].buffer, c.data(), sizeof(float) * c.size());
  std::vector<std::uint32_t> bits;
  for (const float value : c) {
    bits.push_back(std::bit_cast<std::uint32_t>(value));
  }
  return bits;
}

class Clusters : public ::testing::TestWithParam<DeviceName> {};

TEST_P(Clusters, AddUpToTheBitsOfAFurtherStep) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  if (!device.device->info().clusters) {
    GTEST_SKIP() << device.device->info().name << " has no clusters of work-groups";
  }
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const HostProblem host = random_problem(each.problem, Distribution::signed_unit, 1);
    for (std::int64_t parts = 2; parts <= most_in_cluster; ++parts) {
      SCOPED_TRACE(parts);
      Choice choice{&find_kernel(each.kernel), each.tunables, parts};
      const std::vector<std::uint32_t> wanted = bits_of(choice, host, device);
      choice.clustered = true;
      EXPECT_EQ(bits_of(choice, host, device), wanted);
      EXPECT_EQ(bits_of(choice, host, device), wanted) << "the second time";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cluster, Clusters, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

}  // namespace
}  // namespace duogemm::testing
