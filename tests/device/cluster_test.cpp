// Clusters of work-groups add up parts of k to the same bits as the step does that adds parts up in memory.
#include <gtest/gtest.h>

#include <bit>

#include "check_plan.h"
#include "devices.h"

namespace duogemm::testing {
namespace {

// A kernel, with tunables that the problem leaves open, and a problem whose sizes no tile divides.
struct ClusterCase {
  const char* name;
  const char* kernel;
  Tunables tunables;
  Problem problem;
};

Problem scaled_problem(std::int64_t m, std::int64_t n, std::int64_t k, const char* ops,
                       std::int64_t batch = 1, Precision precision = Precision::fp32) {
  Problem p = problem_of(m, n, k, ops, 0, batch);
  p.alpha = 0.5f;
  p.beta = -1.5f;
  p.precision = precision;
  return p;
}

std::vector<ClusterCase> cluster_cases() {
  const Tunables wide = {{"TSM", 128}, {"TSN", 128}, {"WPTM", 8}, {"WPTN", 8}, {"LANES_M", 4}, {"STAGES", 2}};
  const Tunables flat = {{"TSM", 256}, {"TSN", 64}, {"WPTM", 8}, {"WPTN", 16}, {"LANES_M", 8}};
  const Tunables one_column = {{"TSM", 256}, {"TSN", 32}, {"TSK", 8},
                               {"WPTM", 16}, {"WPTN", 4}, {"LANES_M", 4}};
  const Tunables third_of_m = {{"TSM", 48}, {"TSN", 64}, {"WPTM", 8}, {"WPTN", 4}, {"LANES_M", 2}};
  const Tunables third_of_n = {{"TSM", 64}, {"TSN", 96}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}};
  const Tunables small = {{"TSM", 64}, {"TSN", 8}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 16}};
  return {{"vectors", "pipelined", wide, scaled_problem(196, 300, 300, "NT")},
          {"single", "pipelined", wide, scaled_problem(197, 301, 300, "NN")},
          {"transposed", "pipelined", flat, scaled_problem(260, 70, 555, "TN")},
          {"in_passes", "pipelined", one_column, scaled_problem(300, 50, 256, "NT")},
          {"third_of_m", "pipelined", third_of_m, scaled_problem(101, 130, 300, "TN")},
          {"third_of_n", "pipelined", third_of_n, scaled_problem(131, 197, 300, "NN")},
          {"batch", "pipelined", small, scaled_problem(100, 12, 256, "NN", 5)},
          {"columns", "skinny_columns", {{"LANES", 16}, {"SLICES", 4}}, scaled_problem(333, 3, 700, "NN")},
          {"columns_of_batch", "skinny_columns", {{"SLICES", 1}}, scaled_problem(1, 500, 300, "NT", 3)},
          {"dots", "skinny_dots", {{"LANES", 8}}, scaled_problem(333, 4, 700, "TN")},
          {"dots_of_batch", "skinny_dots", {{"LANES", 32}}, scaled_problem(2, 90, 400, "NN", 3)},
          {"pieces", "tensor", {{"TSM", 256}}, scaled_problem(301, 200, 1000, "NT", 1, Precision::f16x3)},
          {"pieces_of_batch",
           "tensor",
           {{"TSM", 128}, {"TSN", 64}},
           scaled_problem(260, 131, 333, "TN", 3, Precision::bf16x6)}};
}

std::vector<std::uint32_t> bits_of(const ScheduleRequest& request, const HostProblem& host, TestDevice& on) {
  const Plan plan = plan_of(request, host.problem, on.device->info());
  const Checked found = run_plan(plan, host, on);
  EXPECT_TRUE(found.verdict.ok()) << describe(plan) << ": " << found.verdict.fault();
  std::vector<std::uint32_t> bits;
  for (const float value : found.c) {
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
  for (const ClusterCase& each : cluster_cases()) {
    SCOPED_TRACE(each.name);
    const HostProblem host = random_problem(each.problem, Distribution::signed_unit, 1);
    for (std::int64_t splits = 2; splits <= most_in_cluster; ++splits) {
      SCOPED_TRACE(splits);
      ScheduleRequest request{&find_kernel(each.kernel), each.tunables, splits};
      const std::vector<std::uint32_t> wanted = bits_of(request, host, device);
      request.clustered = true;
      EXPECT_EQ(bits_of(request, host, device), wanted);
      EXPECT_EQ(bits_of(request, host, device), wanted) << "the second time";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cluster, Clusters, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
