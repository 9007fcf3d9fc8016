// Plans where other arithmetic than FP32 is permitted. They need no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "check_plan.h"
#include "devices.h"
#include "families/tensor.h"
#include "plan/lower.h"
#include "plan/select.h"
#include "refusal.h"

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

// The product of a plan for groups, whose result another step makes C of.
template <typename Arguments>
Arguments product_before_finish(const char* steps, Precision precision, std::int64_t rows) {
  Problem problem = problem_of(2048, 64 * rows, 2048);
  problem.precision = precision;
  problem.groups = 64;
  problem.a_stride = problem.a_elements();
  problem.b_stride = problem.c_stride = 0;
  problem.c_type = ElementType::bf16;
  const Plan plan = plan_sgemm(problem, hopper());
  EXPECT_EQ(steps_of(plan), steps);
  return std::get<StructArgument>(plan.steps.at(plan.multiply).arguments.front()).as<Arguments>();
}

// Each has its A, and all have one B and one result, wherever that is.
TEST(TensorPlan, HasOneResultForAllGroups) {
  const auto in_terms = product_before_finish<TensorArguments>("group_tiles split split tensor fixup finish",
                                                               Precision::f16x3, 256);
  EXPECT_EQ(in_terms.a.members, 64);
  EXPECT_EQ(in_terms.b.members, 1);
  EXPECT_EQ(in_terms.N, (128 + 64) * 128);
  EXPECT_EQ(in_terms.d.stride, 0);
  const auto in_fp32 =
      product_before_finish<GroupedArguments>("group_tiles grouped finish", Precision::fp32, 256).product;
  EXPECT_EQ(in_fp32.N, (256 + 64) * 64);
  EXPECT_EQ(in_fp32.a.stride, 2048 * 2048);
  EXPECT_EQ(in_fp32.d.stride, 0);
  // Too few rows for splitting the matrices to be worthwhile.
  product_before_finish<GroupedArguments>("group_tiles grouped finish", Precision::f16x3, 4);
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

// At the level batch_invariant no size decides who multiplies, and k is not split. FP32 has its
// own bits, where there are no tensor cores and wherever it is asked for.
TEST(TensorPlan, IsTheSameForAllSizesWhereBitsMayNotDependOnThem) {
  const auto steps = [](int capability, Precision precision, std::int64_t m, std::int64_t k) {
    Problem problem = problem_of(m, 5, k);
    problem.precision = precision;
    problem.level = Reproducibility::batch_invariant;
    return steps_of(plan_sgemm(problem, hopper(capability)));
  };
  for (const Precision precision : {Precision::bf16x6, Precision::f16x3}) {
    for (const std::int64_t m : {1, 4000}) {
      EXPECT_EQ(steps(90, precision, m, 40960), "split tensor fixup") << m;
      EXPECT_EQ(steps(89, precision, m, 30), "split tensor_mma fixup") << m;
      EXPECT_EQ(steps(75, precision, m, 40960), steps(75, Precision::fp32, m, 40960)) << m;
    }
  }
  Problem problem = problem_of(7, 5, 30);
  problem.precision = Precision::f16x3;
  problem.level = Reproducibility::batch_invariant;
  problem.no_workspace = true;
  EXPECT_NE(refusal([&] { plan_sgemm(problem, hopper()); }, Status::out_of_memory).find("split terms"),
            std::string::npos);
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
  Problem problem = Problem::packed(384, 384, 2048);
  problem.precision = Precision::f16x3;
  const Step clustered = plan_sgemm(problem, device).steps[1];
  EXPECT_GT(clustered.geometry.cluster, 1u);
  EXPECT_EQ(clustered.geometry.groups[2], clustered.geometry.cluster);
  device.clusters = false;
  const Plan plan = plan_sgemm(problem, device);
  EXPECT_EQ(plan.steps[1].geometry.cluster, 1u);
  EXPECT_EQ(plan.steps[1].geometry.groups[2], 1u);
  EXPECT_GE(plan.workspace_bytes.back(), sizeof(float) * 384 * 384 * 2);
}

// Operands of 16 bits have smaller stages than their tiles have sums.
TEST(TensorPlan, HasLocalMemoryForTheSumsThatAClusterExchanges) {
  std::size_t settings = 0;
  for (const Variant* program : Planner(hopper()).kernels()) {
    if (program->spec->name == "tensor") {
      const Tunables& t = program->tunables;
      const auto sums = sizeof(float) * static_cast<std::size_t>(t.at("TSM") * t.at("TSN"));
      constexpr std::size_t exchange = 8 * EXCHANGED * sizeof(float);  // behind the stages
      const std::size_t all = program->spec->geometry(1, 1, t).dynamic_local_bytes;
      EXPECT_GE(all - exchange, sums) << to_text(t);
      EXPECT_LE(all + 1024, std::size_t{227 * 1024}) << to_text(t);
      settings += t.at("NARROW_A") != 0 && t.at("NARROW_B") != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(settings, 0u);
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

template <typename Struct>
Struct numbers_of(const Step& step) {
  return std::get<StructArgument>(step.arguments.at(0)).as<Struct>();
}

bool works_on(const Step& step, Operand operand) {
  return std::ranges::any_of(step.arguments, [&](const StepArgument& argument) {
    const auto* const found = std::get_if<Operand>(&argument);
    return found != nullptr && *found == operand;
  });
}

// The problem, of which A or else B was prepared.
Problem prepared(Problem problem, bool is_a) {
  (is_a ? problem.a_prepared : problem.b_prepared) = true;
  return problem;
}

TEST(TensorPlan, SplitsTheOtherOperandAloneWhereOneWasPrepared) {
  for (const Precision precision : {Precision::bf16x6, Precision::f16x3}) {
    const Problem problem = square(2048, precision);
    const std::int64_t blocks = precision == Precision::f16x3 ? 2048 / 64 : 2048 / 32;
    for (const bool is_a : {true, false}) {
      const Plan plan = plan_sgemm(prepared(problem, is_a), hopper());
      ASSERT_EQ(steps_of(plan), by_warpgroups);
      const auto split = numbers_of<SplitArguments>(plan.steps[0]);
      EXPECT_EQ(split.a.panels, is_a ? 0 : 16);
      EXPECT_EQ(split.b.panels, is_a ? 16 : 0);
      EXPECT_EQ(plan.steps[0].geometry.groups[0],
                static_cast<std::size_t>(16 * ceil_div(blocks, split.blocks_of_group)));
      EXPECT_EQ(plan.workspace_bytes.size(), 2u);  // the other's terms, and sums
      for (const std::size_t step : {1, 2}) {
        EXPECT_EQ(works_on(plan.steps[step], operand_prepared_a), is_a);
        EXPECT_EQ(works_on(plan.steps[step], operand_prepared_b), !is_a);
      }
    }
  }
}

// Short sums wait for C to be written, which the kernels for FP32 do better.
TEST(TensorPlan, LeavesShortSumsToFp32) {
  for (const auto& [m, n, k] : {std::array{1854, 11416, 23}, {14637, 4507, 3}, {8848, 5184, 7}}) {
    Problem problem = problem_of(m, n, k);
    problem.precision = Precision::f16x3;
    EXPECT_EQ(steps_of(plan_sgemm(problem, hopper())).find("tensor"), std::string::npos) << m;
  }
}

TEST(TensorPlan, SplitsSeveralBlocksInAWorkGroupWhereTheDeviceIsBusyAllTheSame) {
  const auto blocks_of_group = [](std::int64_t size) {
    const Plan plan = plan_sgemm(square(size, Precision::f16x3), hopper());
    EXPECT_EQ(steps_of(plan), by_warpgroups);
    return numbers_of<SplitArguments>(plan.steps[0]).blocks_of_group;
  };
  EXPECT_EQ(blocks_of_group(1024), 1);
  EXPECT_EQ(blocks_of_group(2048), 2);
  EXPECT_EQ(blocks_of_group(4096), 4);
  EXPECT_EQ(blocks_of_group(8192), 4);
}

// At batch_invariant a work-group has a strip of rows and all k.
TEST(TensorPlan, SplitsStripsOfRowsThatHaveScales) {
  Problem problem = Problem::packed(300, 200, 5000);
  problem.precision = Precision::f16x3;
  problem.level = Reproducibility::batch_invariant;
  const Step split = plan_sgemm(problem, hopper()).steps[0];
  const auto numbers = numbers_of<SplitArguments>(split);
  EXPECT_EQ(split.geometry.groups[0],
            static_cast<std::size_t>((numbers.a.panels + numbers.b.panels) * (PANEL / STRIP_ROWS)));
}

TEST(TensorPlan, LaysAPreparedOperandOutForAllSettings) {
  Problem problem = prepared(problem_of(300, 300, 200, "NN", 0, 3), true);
  problem.precision = Precision::f16x3;
  const Plan preparation = plan_preparation(problem, hopper());
  ASSERT_EQ(steps_of(preparation), "split");
  const auto split = numbers_of<SplitArguments>(preparation.steps[0]);
  EXPECT_EQ(split.a.panels, 4);
  EXPECT_EQ(split.b.panels, 0);
  EXPECT_EQ(preparation.steps[0].geometry.groups, (Extent{4 * 4, 3, 1}));
  EXPECT_TRUE(preparation.workspace_bytes.empty());
  for (const char* setting :
       {"tensor:TSM=128", "tensor:TSM=256", "tensor:TSM=128,TSN=64", "tensor_mma:TSM=64,WARP_N=32"}) {
    const Plan plan = plan_of(parse_schedule(setting), problem, hopper());
    EXPECT_EQ(numbers_of<TensorArguments>(plan.steps[1]).a.panels, 4) << setting;
    const auto scales = numbers_of<FixupArguments>(plan.steps[2]).a_scales;
    EXPECT_EQ(scales.panels, 4) << setting;
    // The scales are the last of what was prepared: four blocks along k of each panel, for three members.
    EXPECT_EQ(sizeof(float) * static_cast<std::size_t>(scales.offset + 3 * 4 * 4), prepared_bytes(problem))
        << setting;
  }
  for (const char* kernel : {"tensor", "tensor_mma"}) {
    EXPECT_NE(refusal([&] {
                resolve(find_kernel(kernel), {{"TSM", 512}});
              }),
              "accepted")
        << "an operand is prepared for at most 256 rows of a tile";
  }
}

TEST(TensorPlan, PreparesAnOperandWhateverTheOtherOne) {
  for (const bool is_a : {true, false}) {
    const auto bytes = [&](std::int64_t own, std::int64_t other, std::int64_t k) {
      Problem problem = prepared(is_a ? problem_of(own, other, k) : problem_of(other, own, k), is_a);
      problem.precision = Precision::bf16x6;
      return prepared_bytes(problem);
    };
    // Three terms of 16 bits for each number, and a scale for each 128 x 32 of them.
    EXPECT_EQ(bytes(512, 1, 96), 4 * 3 * (3 * 2 * 128 * 32 + 4));
    EXPECT_EQ(bytes(512, 5000, 96), bytes(512, 0, 96));
    EXPECT_EQ(bytes(0, 64, 96), 0u);
    EXPECT_EQ(bytes(64, 64, 0), 0u);
    EXPECT_TRUE(plan_preparation(prepared(square(0, Precision::f16x3), is_a), hopper()).steps.empty());
  }
}

TEST(TensorPlan, ExpectsToSaveTheSplitOfAPreparedOperand) {
  const Problem problem = square(2048, Precision::f16x3);
  const Planner planner(hopper());
  for (const bool is_a : {true, false}) {
    EXPECT_LT(planner.select(prepared(problem, is_a)).seconds, planner.select(problem).seconds);
  }
}

TEST(TensorPlan, RefusesToPrepareWithoutTensorCores) {
  Problem problem = prepared(square(64, Precision::f16x3), true);
  EXPECT_EQ(refusal([&] { plan_preparation(problem, hopper(75)); }, Status::unsupported),
            "tensor cores, which an operand is prepared for, of an NVIDIA device of compute capability 8.0; "
            "this one has 7.5");
  problem.k = std::int64_t{1} << 30;
  EXPECT_EQ(refusal([&] { plan_preparation(problem, hopper()); }, Status::unsupported),
            "k of at most 1073741823 where an operand is prepared; it is 1073741824");
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
