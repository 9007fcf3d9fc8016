// Plans where other arithmetic than FP32 is permitted. They need no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "check_plan.h"
#include "devices.h"
#include "families/tensor.h"
#include "plan/lower.h"
#include "plan/select.h"

namespace duogemm::testing {
namespace {

Problem square(std::int64_t n, Precision precision) {
  Problem problem = problem_of(n, n, n);
  problem.precision = precision;
  return problem;
}

bool is_on_tensor_cores(const Problem& problem, const DeviceInfo& device = hopper()) {
  return steps_of(plan_sgemm(problem, device)) == "split tensor fixup";
}

constexpr const char* by_mma_sync = "split tensor_mma fixup";
constexpr const char* by_warpgroups = "split tensor fixup";

struct Steps {
  int capability;
  Precision precision;
  std::int64_t m, n;
  const char* steps = nullptr;  // those of FP32
};

// By mma.sync where there are no warpgroups. On other devices FP32 is as fast as tensor cores are in three or
// six products.
TEST(TensorPlan, SplitsMultipliesAndPatchesWhereThatIsPermittedAndFaster) {
  constexpr Precision bf16x6 = Precision::bf16x6, f16x3 = Precision::f16x3;
  for (const Steps& each : {Steps{90, bf16x6, 2048, 2048, by_warpgroups},
                            {90, bf16x6, 8192, 8192, by_warpgroups},
                            {90, f16x3, 2048, 2048, by_warpgroups},
                            {90, f16x3, 8192, 8192, by_warpgroups},
                            {90, Precision::fp32, 4096, 4096},
                            {90, f16x3, 64, 64},
                            {90, f16x3, 4096, 8},
                            {80, bf16x6, 4096, 4096, by_mma_sync},
                            {80, f16x3, 4096, 4096, by_mma_sync},
                            {100, f16x3, 4096, 4096, by_mma_sync},
                            {86, bf16x6, 4096, 4096},
                            {89, bf16x6, 4096, 4096},
                            {120, bf16x6, 4096, 4096},
                            {75, f16x3, 4096, 4096}}) {
    Problem problem = problem_of(each.m, each.n, each.m);
    problem.precision = each.precision;
    const std::string steps = steps_of(plan_sgemm(problem, hopper(each.capability)));
    if (each.steps != nullptr) {
      EXPECT_EQ(steps, each.steps) << each.capability << " " << each.m;
    } else {
      EXPECT_EQ(steps.find("split"), std::string::npos) << each.capability << " " << each.m;
    }
  }
  DeviceInfo cpu = hopper(0);
  cpu.kind = DeviceKind::cpu;
  EXPECT_FALSE(is_on_tensor_cores(square(4096, Precision::bf16x6), cpu));
}

TEST(TensorPlan, CanBeForcedWhereItIsPermitted) {
  setenv("DUOGEMM_FORCE", "tensor:TSM=128", 1);
  EXPECT_TRUE(is_on_tensor_cores(square(64, Precision::f16x3)));
  EXPECT_FALSE(is_on_tensor_cores(square(4096, Precision::fp32)));
  EXPECT_FALSE(is_on_tensor_cores(square(4096, Precision::f16x3), hopper(80)));
  unsetenv("DUOGEMM_FORCE");
}

TEST(TensorPlan, MultipliesByMmaSyncWhereWarpgroupsDoNotWork) {
  const Planner planner(hopper(), tuning_without(find_kernel("tensor"), hopper()));
  EXPECT_EQ(steps_of(plan_sgemm(square(4096, Precision::f16x3), planner)), by_mma_sync);
  EXPECT_EQ(steps_of(plan_sgemm(square(4096, Precision::fp32), planner)),
            steps_of(plan_sgemm(square(4096, Precision::fp32), hopper())));
}

TEST(TensorPlan, HasASettingOfEachPrecisionForEachDeviceWithTensorCores) {
  for (const int capability : {80, 86, 87, 89, 100, 120}) {
    std::set<int> precisions;
    for (const Variant* program : Planner(hopper(capability)).kernels()) {
      if (program->spec->name == "tensor_mma") {
        precisions.insert(program->tunables.at("BF16X6"));
        EXPECT_FALSE(unsupported_reason(*program, hopper(capability))) << to_text(program->tunables);
      }
    }
    EXPECT_EQ(precisions, (std::set{0, 1})) << capability;
  }
}

// One for each tile, as long as they run at the same time. Those of a batch share what room there is.
TEST(TensorPlan, PatchesWithNoMoreWorkGroupsThanRunAtOnce) {
  const auto groups_of_fixup = [](std::int64_t n, std::int64_t batch) {
    Problem problem = square(n, Precision::f16x3);
    problem.batch = batch;
    const Step fixup = plan_sgemm(problem, hopper()).steps.back();
    EXPECT_EQ(fixup.kernel->spec->name, "fixup");
    return fixup.geometry.groups;
  };
  EXPECT_EQ(groups_of_fixup(1024, 1), (Extent{64, 1, 1}));
  EXPECT_EQ(groups_of_fixup(4096, 1), (Extent{132, 1, 1}));
  EXPECT_EQ(groups_of_fixup(512, 100), (Extent{16, 8, 1}));
}

// A kernel multiplies them by the tiles along N in 32 bits.
TEST(TensorPlan, RasterisesNoMoreRowsOfTilesThanThereAre) {
  Problem problem = Problem::packed(200, 4096, 4096);
  problem.precision = Precision::f16x3;
  const Plan plan = plan_of(parse_schedule("tensor:TSM=128"), problem, hopper());
  const StepArgument& sizes = plan.steps.at(plan.multiply).arguments.at(0);
  EXPECT_EQ(std::get<StructArgument>(sizes).as<TensorArguments>().group_m, 2);
}

TEST(TensorPlan, AddsUpSlicesInClustersWhereThereAreSome) {
  DeviceInfo device = hopper();
  const Problem problem = square(1024, Precision::f16x3);
  const Step clustered = plan_sgemm(problem, device).steps[1];
  EXPECT_GT(clustered.geometry.cluster, 1u);
  EXPECT_EQ(clustered.geometry.groups[2], clustered.geometry.cluster);
  device.clusters = false;
  const Plan plan = plan_sgemm(problem, device);
  EXPECT_EQ(plan.steps[1].geometry.cluster, 1u);
  EXPECT_EQ(plan.steps[1].geometry.groups[2], 1u);
  EXPECT_GE(plan.workspace_bytes.back(), sizeof(float) * 1024 * 1024 * 2);
}

TEST(TensorPlan, HasRoomForTermsScalesAndSlices) {
  Tunables setting = resolve(find_kernel("tensor"), {{"TSM", 256}, {"BF16X6", 0}, {"TSK", 64}});
  Problem problem = square(300, Precision::f16x3);
  problem.batch = 3;
  problem.b_stride = 0;
  // Two tiles of 256 rows are four panels; 300 of k are five blocks of 64; two terms are as long as a float.
  const OperandTerms a = terms_of_a(setting, problem);
  EXPECT_EQ(a.panels, 4);
  EXPECT_EQ(a.blocks, 5);
  EXPECT_EQ(a.size, 3 * 4 * 5 * 128 * 64);
  EXPECT_EQ(a.elements(), a.size + 3 * 4 * 5);
  // A B that all members share is split once.
  EXPECT_EQ(terms_of_b(setting, problem).size, 3 * 5 * 128 * 64);
  EXPECT_EQ(splits_layout(setting, problem, 1).elements, 0);
  // A counter for each of the 2 x 3 tiles of three members, a line of them.
  EXPECT_EQ(splits_layout(setting, problem, 2).counters, 32);
  EXPECT_EQ(splits_layout(setting, problem, 2).elements, 32 + 18 * 2 * 256 * 128);
}

// FP16 has more significant bits than a term of BF16.
TEST(TensorPlan, TakesOneTermForNumbersOf16Bits) {
  const auto terms = [](Precision precision, ElementType a, ElementType b) {
    Problem problem = square(4096, precision);
    problem.a_type = a;
    problem.b_type = b;
    const Plan plan = plan_sgemm(problem, hopper());
    EXPECT_EQ(plan.steps.size(), 3u);  // nothing is copied to FP32 before
    const Tunables& setting = plan.steps[plan.multiply].kernel->tunables;
    const auto split = std::get<StructArgument>(plan.steps[0].arguments[0]).as<SplitArguments>();
    EXPECT_EQ(split.a.terms == 1, setting.at("NARROW_A") == 1);
    EXPECT_EQ(split.b.terms == 1, setting.at("NARROW_B") == 1);
    return std::pair(split.a.terms, split.b.terms);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  using enum ElementType;
  EXPECT_EQ(terms(Precision::f16x3, bf16, fp32), Pair(1, 2));
  EXPECT_EQ(terms(Precision::f16x3, fp16, bf16), Pair(1, 1));
  EXPECT_EQ(terms(Precision::bf16x6, fp32, bf16), Pair(3, 1));
  EXPECT_EQ(terms(Precision::bf16x6, fp16, fp32), Pair(3, 3));
}

TEST(TensorPlan, ShipsWhatItNeeds) {
  const std::vector<const Variant*> programs = programs_of(planner_for(hopper()));
  for (const Precision precision : {Precision::bf16x6, Precision::f16x3}) {
    for (const std::int64_t n : {1000, 1024, 2050, 4096}) {
      Problem problem = square(n, precision);
      problem.a_type = n == 1000 ? ElementType::bf16 : ElementType::fp32;
      problem.b_type = n > 2000 ? ElementType::bf16 : ElementType::fp32;
      problem.a_op = n % 3 == 0 ? Transpose::yes : Transpose::no;
      for (const Step& step : plan_sgemm(problem, hopper()).steps) {
        EXPECT_NE(std::find(programs.begin(), programs.end(), step.kernel), programs.end())
            << step.kernel->spec->name << " " << to_text(step.kernel->tunables);
      }
    }
  }
}

}  // namespace
}  // namespace duogemm::testing
