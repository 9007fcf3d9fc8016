// The planner needs no device: what it chooses, whether that can run, and what the cost model believes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>

#include "check_plan.h"
#include "devices.h"
#include "files.h"
#include "plan/lower.h"
#include "plan/select.h"

namespace duogemm::testing {
namespace {

DeviceInfo gpu_with_clusters() { return large_gpu(true); }

// Sizes uniform in their logarithms, transposes, gaps, batches and levels: whatever a call may ask for.
std::vector<Problem> random_problems(std::size_t count) {
  std::mt19937 random(20261123);
  const auto size = [&](double most) {
    return static_cast<std::int64_t>(std::pow(most, std::uniform_real_distribution<>(0.0, 1.0)(random)));
  };
  std::vector<Problem> problems;
  while (problems.size() < count) {
    const char* ops[] = {"NN", "NT", "TN", "TT"};
    Problem p = problem_of(size(5000), size(5000), size(20000), ops[random() % 4], 0,
                           random() % 4 == 0 ? size(300) : 1);
    p.lda += random() % 2 * (random() % 9);
    p.ldc += random() % 2 * (random() % 9);
    p.c_stride = p.c_elements();
    p.a_aligned = random() % 4 != 0;
    p.beta = random() % 2 == 0 ? 0.0f : 1.0f;
    p.level = random() % 3 == 0 ? Reproducibility::everywhere : Reproducibility::run_to_run;
    problems.push_back(p);
  }
  return problems;
}

// The tunings that the library ships for GPUs, and the one that it calculates.
std::vector<Tuning> tunings_for_gpus() {
  std::vector<Tuning> tunings = {tuning_or_analytic(large_gpu())};
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    if (embedded.target.kind == "gpu") {
      tunings.push_back(tuning_of(embedded));
    }
  }
  return tunings;
}

TEST(EmbeddedTunings, AreWhatTheirFilesSay) {
  EXPECT_GE(embedded_tunings().size(), 3u);
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    const std::string name(embedded.name);
    const Tuning of_file = parse_tuning(contents_of(DUOGEMM_SOURCE "/common/" + name), name);
    EXPECT_EQ(to_json(tuning_of(embedded)), to_json(of_file)) << name;
  }
}

// And ranks it first. The planner tells its programs before the first problem comes.
TEST(Planner, ChoosesWhatCanRunForAnyProblemAndAsksOnlyForProgramsThatItNames) {
  const std::vector<Problem> problems = random_problems(400);
  for (const Tuning& tuning : tunings_for_gpus()) {
    for (const DeviceInfo& device : {large_gpu(), gpu_with_clusters()}) {
      const Planner planner(device, tuning);
      const std::vector<const Variant*> named = programs_of(planner);
      for (const Problem& problem : problems) {
        const Schedule schedule = planner.select(problem);
        const Plan plan = lower(schedule, problem, device);  // throws where it cannot
        EXPECT_EQ(plan.steps.at(plan.multiply).kernel, schedule.kernel);
        EXPECT_EQ(unsupported_reason(*schedule.kernel, device), std::nullopt);
        if (problem.level == Reproducibility::everywhere) {
          EXPECT_EQ(schedule.splits, (problem.k + 4095) / 4096) << to_text(schedule);
          EXPECT_FALSE(schedule.kernel->reorders) << to_text(schedule);
        }
        EXPECT_TRUE(device.clusters || !schedule.clustered);
        const std::vector<Schedule> ranked = planner.rank(problem);
        EXPECT_EQ(to_text(schedule), to_text(ranked.front()));
        EXPECT_TRUE(std::ranges::is_sorted(ranked, {}, &Schedule::seconds));
        for (const Step& step : plan_sgemm(problem, planner).steps) {
          EXPECT_TRUE(device.clusters || std::ranges::find(named, step.kernel) != named.end())
              << step.kernel->spec->name << " " << to_text(step.kernel->tunables);
        }
      }
    }
  }
}

// A plan serves every call that differs in its factors only. For sums that are kept in D, alpha is 1.
TEST(Planner, DependsOnFactorsOnlyAsFarAsTheyAreZero) {
  const Planner planner(large_gpu());
  for (Problem problem : random_problems(50)) {
    problem.alpha = problem.owed_splits() > 1 ? 3.0f : 1.0f;
    const std::string one = describe(plan_sgemm(problem, planner));
    problem.alpha = -0.37f;
    problem.beta *= 2.5f;
    EXPECT_EQ(describe(plan_sgemm(problem, planner)), one);
  }
}

TEST(Planner, FindsAGeneralKernelWhereThereIsNothingElse) {
  DeviceInfo small = large_gpu();
  small.local_bytes = 16 * 1024;
  small.max_work_group = 256;
  const Planner planner(small);
  for (const Problem& problem : random_problems(100)) {
    EXPECT_NO_THROW(plan_sgemm(problem, planner));
  }
}

ScheduleRequest sliced(const char* kernel, std::int64_t splits, bool clustered) {
  return {.spec = &find_kernel(kernel), .splits = splits, .clustered = clustered};
}

TEST(Schedule, AddsUpInClustersWhereTheDeviceHasThem) {
  const Problem problem = problem_of(256, 256, 4096, "NT");
  EXPECT_THROW(schedule_for(sliced("pipelined", 4, true), problem, large_gpu()), Error);
  const DeviceInfo device = gpu_with_clusters();
  EXPECT_THROW(schedule_for(sliced("pipelined", 9, true), problem, device), Error);
  const Plan plan = plan_of(sliced("pipelined", 4, true), problem, device);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_TRUE(plan.workspace_bytes.empty());
  EXPECT_EQ(plan.steps[0].geometry.cluster, 4u);
  EXPECT_EQ(plan.steps[0].geometry.groups[2], 4u);
  // Splits are whole tiles: 129 of k in 8 splits are 5 of 2 tiles of 16, or 6 of 3 tiles of 8.
  for (const auto& [tile, splits] : {std::pair(16, 5u), std::pair(8, 6u)}) {
    ScheduleRequest request = sliced("pipelined", 8, true);
    request.tunables = {{"TSK", tile}};
    const Problem shorter = problem_of(256, 256, 129, "NT");
    const Plan found = plan_of(request, shorter, device);
    EXPECT_EQ(found.steps.at(0).geometry.cluster, splits);
  }
}

TEST(Schedule, KeepsTheOrderOfSumsAtTheLevelEverywhere) {
  Problem problem = problem_of(512, 4, 512, "TN");
  const KernelSpec& spec = find_kernel("skinny_dots");
  EXPECT_NO_THROW(schedule_for({&spec, {{"LANES", 32}}}, problem, large_gpu()));
  problem.level = Reproducibility::everywhere;
  EXPECT_THROW(schedule_for({&spec, {{"LANES", 32}}}, problem, large_gpu()), Error);
  EXPECT_NO_THROW(schedule_for({&spec, {{"LANES", 1}}}, problem, large_gpu()));
  EXPECT_THROW(schedule_for(sliced("pipelined", 2, false), problem, large_gpu()), Error);
}

// At the level everywhere, k is split at multiples of 4096, whatever the kernel and whoever adds the splits
// up.
TEST(Schedule, SplitsLongSumsAlikeAtTheLevelEverywhere) {
  Problem problem = problem_of(64, 64, 2 * 4096 + 5, "NT");
  problem.level = Reproducibility::everywhere;
  for (const bool clustered : {false, true}) {
    const Plan plan = plan_of(sliced("pipelined", 3, clustered), problem, gpu_with_clusters());
    EXPECT_EQ(plan.steps.at(0).arguments.at(0).index(), StepArgument(StructArgument{}).index());
    const auto sizes = std::get<StructArgument>(plan.steps.at(0).arguments.at(0)).as<GemmArguments>();
    EXPECT_EQ(sizes.split_length, 4096);
    EXPECT_EQ(plan.steps.at(0).geometry.groups[2], 3u);
  }
  for (const int wrong : {2, 4}) {
    EXPECT_THROW(schedule_for(sliced("pipelined", wrong, false), problem, large_gpu()), Error);
  }
  // Without splits at once, a product for each, in D where that is all there is to D.
  for (const char* kernel : {"pipelined", "general"}) {
    const Plan plan = plan_of(sliced(kernel, 1, false), problem, large_gpu());
    ASSERT_EQ(plan.steps.size(), 3u) << kernel;
    EXPECT_TRUE(plan.workspace_bytes.empty());
    for (int i = 0; i < 3; ++i) {
      const auto sizes = std::get<StructArgument>(plan.steps[static_cast<std::size_t>(i)].arguments.at(0))
                             .as<GemmArguments>();
      EXPECT_EQ(sizes.K, i < 2 ? 4096 : 5);
      EXPECT_EQ(sizes.a.offset, i * 4096 * problem.lda);
      EXPECT_EQ(sizes.b.offset, i * 4096 * problem.ldb);
      EXPECT_EQ(sizes.beta, i == 0 ? 0.0f : 1.0f);
    }
    problem.beta = 2.0f;
    EXPECT_EQ(plan_of(sliced(kernel, 1, false), problem, large_gpu()).steps.size(), 4u);
    problem.no_workspace = true;
    EXPECT_THROW(plan_of(sliced(kernel, 1, false), problem, large_gpu()), Error);
    problem.no_workspace = false;
    problem.beta = 0.0f;
  }
}

// Splits of kernels that split k begin at a multiple of their tile.
TEST(Schedule, OwesSplitsThatAreWholeTiles) {
  for (const Tuning& tuning : tunings_for_gpus()) {
    for (const Calibration& each : tuning.calibrations) {
      const Variant& kernel = variant_of(*each.spec, resolve(*each.spec, each.tunables));
      EXPECT_EQ(everywhere_split % each.spec->family->split_multiple(kernel.tile), 0) << each.spec->name;
    }
  }
}

TEST(Schedule, IsReadAsItIsWritten) {
  const ScheduleRequest request = parse_schedule("pipelined:TSM=32,slices=3,pack_a=1,clustered=1");
  EXPECT_EQ(request.spec->name, "pipelined");
  EXPECT_EQ(request.tunables, (Tunables{{"TSM", 32}}));
  EXPECT_EQ(request.splits, 3);
  EXPECT_TRUE(request.pack_a && !request.pack_b && request.clustered);
  for (const char* wrong : {"nothing", "naive", "general:slices=2", "pipelined:slices=0",
                            "pipelined:pack_a=2", "pipelined:TSM", "pipelined:TSM=x"}) {
    EXPECT_THROW(parse_schedule(wrong), Error) << wrong;
  }
}

// As DUOGEMM_FORCE has it.
std::string force_text(const Schedule& schedule, const Problem& problem) {
  std::string text = schedule.kernel->spec->name + ":slices=" + std::to_string(schedule.splits) +
                     ",pack_a=" + std::to_string(int{schedule.pack_a}) +
                     ",pack_b=" + std::to_string(int{schedule.pack_b}) +
                     ",clustered=" + std::to_string(int{schedule.clustered});
  const auto fixed =
      fixed_tunables(*schedule.kernel->spec, packed(problem, schedule.pack_a, schedule.pack_b));
  for (const auto& [name, value] : schedule.kernel->tunables) {
    text += fixed->contains(name) ? "" : "," + name + "=" + std::to_string(value);
  }
  return text;
}

// The few values of an operand that does not fill a tile, which all work-groups copy again and again.
TEST(Planner, CopiesFewValuesOfAllByWayOfTheL1Cache) {
  for (const auto& [m, n] : {std::pair(8, 271064), {271064, 8}}) {
    const Variant& kernel = *Planner(hopper()).select(Problem::packed(m, n, 112)).kernel;
    const auto& t = kernel.tunables;
    EXPECT_FALSE(kernel.spec->name == "pipelined" && t.at("ASYNC") == 1 && t.at("V") > 1 &&
                 (kernel.tile.m > m || kernel.tile.n > n))
        << to_text(t);
  }
}

TEST(Planner, CanBeForcedToWhateverItOffers) {
  const Problem problem = problem_of(300, 276, 2030, "NN");
  const DeviceInfo device = gpu_with_clusters();
  for (const Tuning& tuning : tunings_for_gpus()) {
    const Planner planner(device, tuning);
    for (const Schedule& schedule : planner.rank(problem)) {
      setenv("DUOGEMM_FORCE", force_text(schedule, problem).c_str(), 1);
      EXPECT_EQ(to_text(planner.select(problem)), to_text(schedule));
      unsetenv("DUOGEMM_FORCE");
    }
  }
}

// A kernel of which work-groups take this many microseconds for 1000 of k, one and two at once on a unit.
Calibration measured(const Tunables& tunables, double one, double two) {
  const KernelSpec& spec = find_kernel("pipelined");
  return {&spec, resolve(spec, tunables), {{1, 0.0, 1e-9 * one}, {2, 0.0, 1e-9 * two}}};
}

double predicted(const Calibration& calibration, const Problem& problem, double groups, const Split& split,
                 const Tuning& tuning = {}, const DeviceInfo& device = large_gpu()) {
  const CostFacts facts(tuning, device);
  const Candidate candidate(variant_of(*calibration.spec, calibration.tunables), calibration, facts);
  return predict_seconds(Traffic(problem, facts), candidate, facts, groups, 1000.0, split);
}

TEST(CostModel, TakesWholeWaves) {
  const Calibration calibration = measured({}, 20, 30);
  const Problem problem = Problem::packed(64, 64, 1000);
  EXPECT_DOUBLE_EQ(predicted(calibration, problem, 132, {}), 20e-6);
  EXPECT_DOUBLE_EQ(predicted(calibration, problem, 133, {}), 30e-6);
  EXPECT_DOUBLE_EQ(predicted(calibration, problem, 264, {}), 30e-6);
  EXPECT_DOUBLE_EQ(predicted(calibration, problem, 265, {}), 45e-6) << "beyond, each adds its share";
}

// A kernel on tensor cores, with tiles of 256 x 128.
Calibration measured_tensor() {
  const KernelSpec& spec = find_kernel("tensor");
  return {&spec, resolve(spec, {{"BF16X6", 0}, {"TSK", 64}, {"TSM", 256}}), {{1, 0.0, 1e-8}}};
}

// A compute unit reads 64 bytes in a cycle, and a tile's last work-group all sums of 256 x 128 for each
// split.
TEST(CostModel, CountsWhatTheLastWorkGroupOfATileAddsUp) {
  Tuning tuning;
  tuning.bandwidth = 1e12;
  const auto seconds = [&](std::int64_t splits) {
    return predicted(measured_tensor(), Problem::packed(256, 128, 8192), 64, {splits, AddedBy::step}, tuning,
                     hopper());
  };
  const double each = 256.0 * 128.0 * 4.0 / 64.0 / 1980e6;
  const double moved = 256 * 128 * 4 / 1e12;
  EXPECT_NEAR(seconds(12) - seconds(4), 8 * (each + moved), 1e-12);
}

// The kernel `tensor` multiplies nothing while it writes.
TEST(CostModel, AddsWhatAKernelWritesByItself) {
  Tuning tuning;
  tuning.bandwidth = 1e12;
  const auto seconds = [&](std::int64_t m, std::int64_t n) {
    return predicted(measured_tensor(), Problem::packed(m, n, 64), 132, {}, tuning, hopper());
  };
  const auto writing = [](double m, double n) { return 4e-12 * m * n; };
  EXPECT_NEAR(seconds(4096, 8192) - seconds(4096, 4096), writing(4096, 4096), 1e-7);
}

// Work-groups of 256 work-items: one of them fits on a unit whatever it needs.
TEST(CostModel, KnowsThatClustersDoNotFillTheDevice) {
  const Calibration calibration =
      measured({{"TSM", 128}, {"TSN", 128}, {"WPTM", 8}, {"WPTN", 8}, {"RESIDENT", 1}}, 1000, 2000);
  Tuning tuning;
  tuning.clusters = {16, 120};
  const auto waves = [&](double groups, std::int64_t splits) {
    return std::lround(1e3 * predicted(calibration, Problem::packed(64, 64, 64), groups,
                                       {splits, AddedBy::cluster}, tuning, gpu_with_clusters()));
  };
  EXPECT_EQ(waves(132, 1), 1);
  EXPECT_EQ(waves(133, 1), 2);
  EXPECT_EQ(waves(132, 2), 1);
  EXPECT_EQ(waves(120, 8), 1);
  EXPECT_EQ(waves(128, 8), 2);
}

TEST(CostModel, HasMemoryAsAFloor) {
  const Calibration calibration = measured({}, 1, 2);
  Tuning tuning;
  tuning.bandwidth = 3e12;
  tuning.cache = 50e6;
  tuning.launch = 2e-6;
  const Problem large = Problem::packed(8192, 16, 8192);
  EXPECT_GT(predicted(calibration, large, 1, {}, tuning), 4.0 * 8192 * 8192 / 3e12);
  EXPECT_GE(predicted(calibration, Problem::packed(4, 4, 4), 1, {}, tuning), 2e-6);
  // Splits are added up by another step, or in clusters.
  const Problem small = Problem::packed(64, 64, 4000);
  const double alone = predicted(calibration, small, 4, {}, tuning);
  const double clustered = predicted(calibration, small, 4, {4, AddedBy::cluster}, tuning);
  EXPECT_GT(clustered, alone);
  EXPECT_GT(predicted(calibration, small, 4, {4, AddedBy::step}, tuning), clustered);
}

TEST(Tuning, IsCalculatedForAGpuThatNobodyMeasured) {
  EXPECT_EQ(tuning_or_analytic(large_gpu()).source, "calculated");
  const Planner planner(large_gpu());
  const auto tile = [&](std::int64_t size) {
    const Multiples found = planner.select(problem_of(size, size, size, "NT")).kernel->tile;
    return found.m * found.n;
  };
  EXPECT_EQ(tile(8192), 128 * 128);
  EXPECT_LT(tile(512), 128 * 128) << "large tiles would leave most units without work";
  EXPECT_LE(programs_of(planner).size(), 160u);
}

TEST(Lower, SharesOutABatchWhereTheDeviceAllowsFewerWorkGroups) {
  const auto groups = [](std::int64_t batch) {
    const Problem problem = problem_of(100, 4, 4, "NN", 0, batch);
    const Plan plan = plan_sgemm(find_kernel("general"), {}, problem, large_gpu());
    return plan.steps.at(0).geometry.groups;
  };
  EXPECT_EQ(groups(65'535), (Extent{2, 65'535, 1}));
  EXPECT_EQ(groups(100'000), (Extent{2, 50'000, 1})) << "two members each";
}

// A kernel multiplies them by the tiles along N in 32 bits.
TEST(Lower, CountsNoMoreTilesOfAStripThanThereAre) {
  const Problem problem = Problem::packed(2, std::int64_t{5} << 30, 1);
  const ScheduleRequest request = parse_schedule("pipelined:TSM=64,TSN=8,WPTM=4,WPTN=4,LANES_M=16");
  const DeviceInfo device = large_gpu();
  const Plan plan = plan_of(request, problem, device);
  const Step& step = plan.steps.at(plan.multiply);
  EXPECT_EQ(std::get<StructArgument>(step.arguments.at(0)).as<GemmArguments>().group_m, 1);
  EXPECT_GT(8 * step.geometry.groups[0], std::size_t{1} << 32) << "any number would do";
}

// A copy of what has 16 bits, the product, and a step that rounds it. Without products, that step alone.
TEST(Lower, CopiesOperandsOf16BitsAndRoundsTheResult) {
  const auto kernels = [](const Problem& problem) {
    std::vector<std::string> names;
    for (const Step& step : plan_sgemm(problem, hopper()).steps) {
      names.push_back(step.kernel->spec->name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  Problem problem = Problem::packed(4096, 4096, 4096);
  problem.beta = 0.5f;
  problem.b_type = ElementType::fp16;
  EXPECT_EQ(kernels(problem), (Names{"pack", "pipelined"}));
  problem.c_type = ElementType::bf16;
  EXPECT_EQ(kernels(problem), (Names{"pack", "pipelined", "finish"}));
  problem.a_type = ElementType::bf16;
  problem.level = Reproducibility::everywhere;
  problem.k = problem.ldb = 10'000;
  const Plan plan = plan_sgemm(problem, hopper());
  EXPECT_EQ(plan.steps[plan.multiply].kernel->spec->name, "pipelined");
  problem.alpha = 0.0f;
  problem.activation = Activation::relu;
  EXPECT_EQ(kernels(problem), Names{"finish"});
}

// As to what they cost, nobody knows how fast memory is on CPUs.
TEST(Planner, ChoosesMeasuredKernelsOfCpusForElementsOf16Bits) {
  Problem problem = Problem::packed(300, 300, 300);
  const Planner& planner = planner_for(cpu(8));
  const Schedule of_floats = planner.select(problem);
  problem.a_type = ElementType::bf16;
  EXPECT_EQ(planner.select(widened(problem)).kernel->spec, of_floats.kernel->spec);
  EXPECT_EQ(planner.select(widened(problem)).seconds.has_value(), of_floats.seconds.has_value());
}

// Whoever adds a kernel learns why it is not chosen.
TEST(Planner, SaysWhyKernelsAreLeftOut) {
  const auto reason = [](const Planner& planner, const Problem& problem, const std::string& kernel) {
    for (const auto& [spec, why] : planner.left_out(problem)) {
      if (spec->name == kernel) {
        return why;
      }
    }
    return std::string();
  };
  const Planner planner(large_gpu());
  Problem problem = Problem::packed(1000, 1000, 1000);
  EXPECT_EQ(reason(planner, problem, "pipelined"), "");
  EXPECT_EQ(reason(planner, problem, "cpu_panels"), "it is for CPUs");
  EXPECT_EQ(reason(planner, problem, "direct"), "it is for sums of up to 64 k");
  EXPECT_EQ(reason(planner, problem, "tensor"), "it multiplies in other precisions");
  problem.precision = Precision::f16x3;
  EXPECT_TRUE(
      reason(planner, problem, "tensor").starts_with("it needs an NVIDIA device of compute capability 9.0"));
  problem.precision = Precision::fp32;
  EXPECT_TRUE(
      reason(planner, problem, "skinny_dots").starts_with("it does not take operands of these sizes"));
  EXPECT_TRUE(reason(planner, problem, "general").starts_with("nothing was measured of it"));
  problem = problem_of(1000, 1, 4000, "TN");
  problem.level = Reproducibility::everywhere;
  EXPECT_TRUE(reason(planner, problem, "skinny_dots").starts_with("it adds up k in another order"));
}

// Vectors of four values where operands are aligned, single ones where they are not, and either transposed.
TEST(Storage, IsOneThatTheSmallestSettingCanHave) {
  for (const KernelSpec& spec : registry()) {
    if (!spec.is_planned()) {
      continue;
    }
    const Tunables smallest = smallest_setting(spec, {});
    for (const Storage& storage : spec.family->storages()) {
      Tunables tunables = storage.fixed;
      tunables.insert(smallest.begin(), smallest.end());
      EXPECT_TRUE(keeps_rules(spec, tunables)) << spec.name << " " << to_text(tunables);
    }
  }
}

TEST(Storage, CountsOffsetsThatDoNotFitInAnInt) {
  const KernelSpec& spec = find_kernel("general");
  const Problem problem = Problem::packed(128, 128, 8);
  EXPECT_EQ(fixed_tunables(spec, problem)->at("LONG_OFFSETS"), 0);
  for (const auto ld : {&Problem::lda, &Problem::ldb, &Problem::ldc}) {
    Problem far = problem;
    far.*ld = std::int64_t{1} << 24;
    EXPECT_EQ(fixed_tunables(spec, far)->at("LONG_OFFSETS"), 1);
  }
}

}  // namespace
}  // namespace duogemm::testing
