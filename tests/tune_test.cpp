// The parts of the tuner: most need no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <iterator>
#include <set>

#include "calibration.h"
#include "compile_pool.h"
#include "cost_model.h"
#include "edge_check.h"
#include "files.h"
#include "planner_fit.h"
#include "probes.h"
#include "setting_space.h"
#include "temporary_directory.h"
#include "test_devices.h"

namespace duogemm::bench {
namespace {

DeviceInfo large_gpu() {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.compute_units = 132;
  info.local_bytes = 48 * 1024;
  info.max_work_group = 1024;
  info.max_groups = {1u << 31, 65535, 65535};
  return info;
}

const OperandKind plain{false, false, true};

// What the first kind of operands that the kernel takes dictates; the plain kind where it takes that.
Tunables fixed_of(const KernelSpec& spec) {
  std::vector<OperandKind> kinds = {plain};
  std::ranges::copy(operand_kinds(), std::back_inserter(kinds));
  for (const OperandKind& kind : kinds) {
    if (const std::optional<Tunables> dictated = spec.dictated(edge_problems(kind).front())) {
      return *dictated;
    }
  }
  throw std::logic_error(spec.name + " takes no kind of operands");
}

void expect_legal(const KernelSpec& spec, const Tunables& tunables) {
  EXPECT_EQ(settle(spec, tunables), tunables);  // throws where a value or a rule does not hold
  EXPECT_EQ(unsupported_reason(spec, tunables, large_gpu()), std::nullopt) << to_text(tunables);
  for (const auto& [name, value] : fixed_of(spec)) {
    EXPECT_EQ(tunables.at(name), value) << name;
  }
}

TEST(SettingSpace, DrawsLegalSettingsOfEveryProductionKernel) {
  const DeviceInfo device = large_gpu();
  Random random(1);
  for (const KernelSpec& spec : registry()) {
    if (!spec.dictated) {
      continue;
    }
    SCOPED_TRACE(spec.name);
    const SettingSpace space(spec, fixed_of(spec), device);
    std::set<std::string> different;
    for (int i = 0; i < 200; ++i) {
      const auto one = space.sample(random);
      const auto other = space.sample(random);
      ASSERT_TRUE(one && other);
      expect_legal(spec, *one);
      different.insert(to_text(*one));
      if (const auto child = space.cross(*one, *other, random)) {
        expect_legal(spec, *child);
      }
      if (const auto child = space.mutate(*one, random)) {
        expect_legal(spec, *child);
        EXPECT_NE(*child, *one);
        EXPECT_GT(space.distance(*one, *child), 0.0);
      }
    }
    EXPECT_GT(different.size(), 50u);
  }
}

TEST(SettingSpace, AdoptsWhatOtherOperandsHad) {
  const DeviceInfo device = large_gpu();
  const KernelSpec& spec = find_kernel("pipelined");
  const SettingSpace space(spec, fixed_of(spec), device);
  Tunables other = settle(spec, {{"TRANS_A", 1}, {"TSM", 128}});
  const auto adopted = space.adopt(other);
  ASSERT_TRUE(adopted);
  expect_legal(spec, *adopted);
  EXPECT_EQ(adopted->at("TSM"), 128);
}

TEST(Probes, AreCompiledAsTheirKindSays) {
  for (const OperandKind& kind : operand_kinds()) {
    SCOPED_TRACE(kind.name());
    std::set<std::string> labels;
    const std::vector<Problem> edges = edge_problems(kind);
    std::vector<Probe> probes = make_probes(kind);
    for (const Problem& edge : edges) {
      probes.push_back({"edge " + std::to_string(edge.m), edge});
    }
    for (const Probe& probe : probes) {
      SCOPED_TRACE(probe.label);
      EXPECT_NO_THROW(validate(probe.problem));
      EXPECT_TRUE(labels.insert(probe.label).second);
      for (const KernelSpec& spec : registry()) {
        if (spec.dictated && spec.thin == (kind.thin != 0)) {
          EXPECT_EQ(spec.dictated(probe.problem), spec.dictated(edges.front()));
        }
      }
    }
  }
}

// Of what the library ships for GPUs, on problems of every kind.
void for_each_shipped_choice(Reproducibility level,
                             const std::function<void(const Choice&, const Problem&)>& visit) {
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    const Tuning tuning = parse_tuning(embedded.text, std::string(embedded.name));
    for (const OperandKind& kind : operand_kinds()) {
      Problem problem = edge_problems(kind).front();
      problem.level = level;
      for (const Calibration& calibration : tuning.calibrations) {
        for (const Choice& choice : choices_with(calibration, problem, large_gpu(), tuning)) {
          visit(choice, problem);
        }
      }
    }
  }
}

TEST(Planner, OffersNothingThatCannotRun) {
  for (const Reproducibility level : {Reproducibility::run_to_run, Reproducibility::everywhere}) {
    for_each_shipped_choice(level, [](const Choice& choice, const Problem& problem) {
      EXPECT_TRUE(can_run(choice, problem, large_gpu())) << to_text(choice);
    });
  }
}

TEST(Planner, AddsUpInClustersWhereTheDeviceHasThem) {
  const Problem problem = make_problem(plain, 256, 256, 4096);
  const auto in_cluster = [](std::int64_t parts) {
    Choice choice{&find_kernel("pipelined"), {}, parts};
    choice.clustered = true;
    return choice;
  };
  EXPECT_FALSE(can_run(in_cluster(4), problem, large_gpu()));
  DeviceInfo device = large_gpu();
  device.clusters = true;
  EXPECT_FALSE(can_run(in_cluster(9), problem, device));
  EXPECT_TRUE(can_run(in_cluster(1), problem, device));
  const Plan plan = carry_out(in_cluster(4), problem, device);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_TRUE(plan.workspace_bytes.empty());
  EXPECT_EQ(plan.steps[0].tunables.at("CLUSTER"), 4);
  EXPECT_EQ(plan.steps[0].geometry.groups[2], 4u);
  // Parts are whole tiles: 129 of k in 8 parts are 5 of 2 tiles of 16, or 6 of 3 tiles of 8.
  for (const auto& [tile, parts] : {std::pair(16, 5), std::pair(8, 6)}) {
    Choice choice = in_cluster(8);
    choice.tunables = {{"TSK", tile}};
    const Plan shorter = carry_out(choice, make_problem(plain, 256, 256, 129), device);
    EXPECT_EQ(shorter.steps.at(0).tunables.at("CLUSTER"), parts);
  }
}

TEST(Planner, KeepsTheOrderOfSumsAtTheLevelEverywhere) {
  Problem problem = make_problem({true, false, true}, 512, 4, 512);
  const KernelSpec& spec = find_kernel("thin_dots");
  const Choice many{&spec, {{"LANES", 32}}};
  const Choice one{&spec, {{"LANES", 1}}};
  EXPECT_TRUE(can_run(many, problem, large_gpu()));
  problem.level = Reproducibility::everywhere;
  EXPECT_FALSE(can_run(many, problem, large_gpu()));
  EXPECT_TRUE(can_run(one, problem, large_gpu()));
  for_each_shipped_choice(Reproducibility::everywhere, [](const Choice& choice, const Problem& of) {
    EXPECT_EQ(choice.parts, 1);
    EXPECT_FALSE(choice.spec->reorders(settle_for(*choice.spec, choice.tunables, of))) << to_text(choice);
  });
}

// A kernel of which the model believes that a work-group takes `seconds`, whatever it does.
Calibration believed(double seconds, int walk) {
  const KernelSpec& spec = find_kernel("pipelined");
  Tunables tunables = fixed_of(spec);
  tunables["WALK"] = walk;
  return {&spec, settle(spec, tunables), {{1, seconds, 0.0}, {2, 2.0 * seconds, 0.0}}};
}

TEST(Planner, OffersClustersOnlyWhereTheyAre) {
  const auto offered = [](const DeviceInfo& device) {
    std::set<std::pair<std::int64_t, bool>> offered;
    for (const Choice& choice :
         choices_with(believed(1e-6, 0), make_problem(plain, 256, 256, 512), device, {})) {
      offered.emplace(choice.parts, choice.clustered);
    }
    return offered;
  };
  DeviceInfo device = large_gpu();
  EXPECT_FALSE(offered(device).contains({4, true}));
  device.clusters = true;
  EXPECT_TRUE(offered(device).contains({4, true}));
  EXPECT_TRUE(offered(device).contains({7, true}));
  EXPECT_TRUE(offered(device).contains({4, false}));
  EXPECT_TRUE(offered(device).contains({12, false}));
  EXPECT_FALSE(offered(device).contains({12, true}));
}

PlannerFit fit_of(const std::vector<Calibration>& calibrations) {
  return {
      calibrations, {make_problem(plain, 64, 64, 32), make_problem(plain, 256, 256, 32)}, large_gpu(), {}};
}

std::vector<int> walks(const std::vector<Calibration>& calibrations) {
  std::vector<int> walks;
  for (const Calibration& calibration : calibrations) {
    walks.push_back(calibration.tunables.at("WALK"));
  }
  return walks;
}

const std::function<bool()> never = [] { return false; };

TEST(Planner, ChoosesWhatRunsWhereOperandsDifferInWidth) {
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    const Tuning tuning = parse_tuning(embedded.text, std::string(embedded.name));
    for (const OperandKind& kind : operand_kinds()) {
      Problem problem = edge_problems(kind).front();
      ++problem.ldb;
      const Choice choice = choose(problem, large_gpu(), tuning);
      EXPECT_TRUE(can_run(choice, problem, large_gpu())) << kind.name() << ": " << to_text(choice);
    }
  }
}

// Kernels for thin results are measured with few columns, and C' = op(B)' op(A)' is as much work.
TEST(Planner, ForetellsTheSameForFewRowsAsForFewColumns) {
  std::size_t compared = 0;
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    const Tuning tuning = parse_tuning(embedded.text, std::string(embedded.name));
    const Problem columns = make_problem({true, false, true}, 65536, 4, 320);
    const Problem rows = make_problem({true, false, true}, 4, 65536, 320);
    for (const Calibration& calibration : tuning.calibrations) {
      if (calibration.spec->thin) {
        const std::vector<Choice> some = choices_with(calibration, columns, large_gpu(), tuning);
        const std::vector<Choice> others = choices_with(calibration, rows, large_gpu(), tuning);
        ASSERT_EQ(some.size(), others.size());
        for (std::size_t i = 0; i < some.size(); ++i, ++compared) {
          EXPECT_EQ(some[i].parts, others[i].parts);
          EXPECT_DOUBLE_EQ(*some[i].seconds, *others[i].seconds) << to_text(some[i]);
        }
      }
    }
  }
  EXPECT_GT(compared, 0u);
}

// What a kernel takes for so many work-groups on each unit, over 1000 of k.
double foretold(const std::vector<Timing>& timings, double per_unit) {
  const KernelSpec& spec = find_kernel("pipelined");
  const DeviceInfo device = large_gpu();
  return predict_seconds(Problem::packed(64, 64, 1000), {&spec, settle(spec, {}), timings}, {}, device,
                         per_unit * static_cast<double>(device.compute_units), 1000.0, {});
}

Timing timed(int groups, double microseconds) { return {groups, 0.0, 1e-9 * microseconds}; }

TEST(CostModel, GoesUpInStepsWhereTheMeasurementsDo) {
  const std::vector<Timing> even = {timed(1, 20),  timed(2, 40),  timed(3, 60),  timed(4, 80),
                                    timed(6, 120), timed(8, 160), timed(12, 240)};
  EXPECT_DOUBLE_EQ(foretold(even, 5), 100e-6);
  EXPECT_DOUBLE_EQ(foretold(even, 9), 180e-6);
  EXPECT_DOUBLE_EQ(foretold(even, 13), 260e-6);
  // Room for four at once, who take all that is left over.
  const std::vector<Timing> stepped = {timed(1, 45),  timed(2, 47),  timed(3, 84),  timed(4, 84),
                                       timed(6, 168), timed(8, 168), timed(12, 252)};
  EXPECT_DOUBLE_EQ(foretold(stepped, 4), 84e-6);
  EXPECT_DOUBLE_EQ(foretold(stepped, 5), 168e-6);
  EXPECT_DOUBLE_EQ(foretold(stepped, 9), 252e-6);
  EXPECT_DOUBLE_EQ(foretold(stepped, 13), 336e-6);
}

TEST(CostModel, MakesSmallTilesSlowerThanTheyWereMeasured) {
  const KernelSpec& spec = find_kernel("pipelined");
  const auto of_tile = [&](int side, std::int64_t n) {
    return predict_seconds(Problem::packed(1000, n, 1000),
                           {&spec, settle(spec, {{"TSM", side}, {"TSN", side}}), {timed(1, 50)}}, {},
                           large_gpu(), 1.0, 1000.0, {});
  };
  EXPECT_GT(of_tile(32, 1000), 1.01 * of_tile(64, 1000));
  EXPECT_GT(of_tile(64, 1000), 1.01 * of_tile(128, 1000));
  EXPECT_EQ(of_tile(32, 16), of_tile(128, 16)) << "of thin results, tiles are larger than what they read";
}

TEST(CostModel, WaitsForALastRound) {
  // One is slow by itself; from four on each adds its share.
  const std::vector<Timing> timings = {timed(1, 50),  timed(2, 55),  timed(3, 65),  timed(4, 80),
                                       timed(6, 120), timed(8, 160), timed(12, 240)};
  EXPECT_DOUBLE_EQ(foretold(timings, 8), 160e-6);
  EXPECT_DOUBLE_EQ(foretold(timings, 9), (180e-6 + (160e-6 + 50e-6)) / 2.0);
  EXPECT_DOUBLE_EQ(foretold(timings, 12), 240e-6);
}

// Of a kernel that takes no time but for its operands. Its tiles are so long that little is read again.
double foretold_of_memory(const Problem& problem, int tile_k, int tile_n = 32) {
  const KernelSpec& spec = find_kernel("pipelined");
  const Tunables tunables = settle(
      spec, {{"TSM", 256}, {"TSN", tile_n}, {"TSK", tile_k}, {"WPTM", 8}, {"WPTN", 8}, {"LANES_M", 8}});
  DeviceInfo device = large_gpu();
  device.cache_bytes = 50'000'000;
  Tuning tuning;
  tuning.bandwidth = 3e12;
  return predict_seconds(problem, {&spec, tunables, {{1, 0.0, 0.0}}}, tuning, device, 1.0, 1.0, {});
}

TEST(CostModel, KnowsThatLongColumnsAreReadInPieces) {
  Problem problem = Problem::packed(8192, 16, 8192);
  problem.b_op = Transpose::yes;
  const double straight = foretold_of_memory(problem, 16);
  EXPECT_DOUBLE_EQ(foretold_of_memory(problem, 32), straight);
  problem.a_op = Transpose::yes;
  EXPECT_GT(foretold_of_memory(problem, 32), 1.3 * straight);
  EXPECT_GT(foretold_of_memory(problem, 16), 1.2 * foretold_of_memory(problem, 32));
  // From the cache they come as fast as others.
  const Problem small = Problem::packed(1024, 16, 1024);
  Problem small_turned = small;
  small_turned.a_op = Transpose::yes;
  EXPECT_DOUBLE_EQ(foretold_of_memory(small_turned, 16), foretold_of_memory(small, 16));
}

TEST(CostModel, ReadsAgainForFurtherTiles) {
  Problem problem = Problem::packed(32, 8192, 8192);
  problem.b_op = Transpose::yes;
  // A is as much as B for 256 tiles; it comes out of the cache.
  const double ratio = foretold_of_memory(problem, 16, 32) / foretold_of_memory(problem, 16, 64);
  EXPECT_GT(ratio, 1.2);
  EXPECT_LT(ratio, 1.3);
}

TEST(CostModel, ReadsFromMemoryAsFastAsWasMeasured) {
  const KernelSpec& spec = find_kernel("pipelined");
  Tuning tuning;
  tuning.bandwidth = 3e12;
  tuning.cache = 50e6;
  const auto foretold = [&](std::int64_t n, double reading) {
    const Calibration calibration{&spec,
                                  settle(spec, {{"TSM", 64}, {"TSN", 16}, {"WPTN", 4}, {"LANES_M", 8}}),
                                  {{1, 0.0, 0.0}},
                                  reading};
    return predict_seconds(Problem::packed(8192, n, 8192), calibration, tuning, large_gpu(), 1.0, 1.0, {});
  };
  EXPECT_GT(foretold(16, 2e12), foretold(16, 4e12));
  // A second column of tiles reads A again.
  EXPECT_NEAR(foretold(32, 2e12) / foretold(16, 2e12), 2.0, 0.01);
  // In the cache it does not matter.
  tuning.cache = 500e6;
  EXPECT_DOUBLE_EQ(foretold(16, 2e12), foretold(16, 4e12));
}

// Few values that every work-group copies, and more often than there are vectors of them.
TEST(Planner, SparesTheL2CacheWhereFewValuesAreCopiedByAll) {
  const KernelSpec& spec = find_kernel("pipelined");
  const auto suits = [&](std::int64_t n, std::int64_t k, Transpose op, int async, std::int64_t batch = 1) {
    Problem problem = Problem::packed(30000, n, k);
    problem.b_op = op;
    problem.batch = batch;
    problem.b_stride = batch == 1 ? 0 : n * k;
    return spec.suits(
        problem,
        settle(spec, {{"TSM", 32}, {"TSN", 16}, {"WPTM", 4}, {"WPTN", 4}, {"LANES_M", 8}, {"ASYNC", async}}));
  };
  EXPECT_FALSE(suits(12, 144, Transpose::yes, 1));
  EXPECT_TRUE(suits(12, 144, Transpose::yes, 2));
  EXPECT_TRUE(suits(12, 144, Transpose::no, 1)) << "turned, value by value";
  EXPECT_TRUE(suits(16, 144, Transpose::yes, 1)) << "each vector once";
  EXPECT_TRUE(suits(13, 144, Transpose::yes, 1)) << "no vectors";
  EXPECT_TRUE(suits(12, 1000, Transpose::yes, 1)) << "not few";
  EXPECT_TRUE(suits(12, 144, Transpose::yes, 1, 2)) << "others for each member of a batch";
}

// A kernel for thin results with work-groups of 32 rows, measured in a cache of 60 MB and beyond.
double foretold_of_thin(std::int64_t rows, std::int64_t k, const std::vector<Timing>& timings,
                        const std::vector<Timing>& uncached = {}) {
  const KernelSpec& spec = find_kernel("thin_columns");
  const Tunables tunables = settle(spec, {{"THIN", 1}, {"VX", 4}, {"LANES", 8}, {"SLICES", 16}});
  Tuning tuning;
  tuning.bandwidth = 3e12;
  tuning.cache = 60e6;
  return predict_seconds(Problem::packed(rows, 1, k), {&spec, tunables, timings, 0.0, uncached}, tuning,
                         large_gpu(), static_cast<double>(rows) / 32.0, static_cast<double>(k), {});
}

TEST(CostModel, TellsCachedThinProblemsFromOthers) {
  const std::vector<Timing> cached = {{1, 2e-6, 3e-9}, {4, 2e-6, 12e-9}};
  const std::vector<Timing> uncached = {{1, 3e-6, 6e-9}, {4, 3e-6, 24e-9}};
  // 43 and 48 MB.
  EXPECT_DOUBLE_EQ(foretold_of_thin(132 * 32, 2560, cached, uncached), 2e-6 + 2560 * 3e-9);
  EXPECT_DOUBLE_EQ(foretold_of_thin(132 * 32, 2860, cached, uncached), 3e-6 + 2860 * 6e-9);
  // Where it was not measured, memory is a floor.
  EXPECT_GT(foretold_of_thin(132 * 32, 16384, {{1, 2e-6, 1e-12}}), 60e-6);
}

TEST(CostModel, SharesTheCacheAmongThinWorkGroups) {
  const std::vector<Timing> cached = {{1, 2e-6, 3e-9}, {2, 2e-6, 6e-9}, {4, 2e-6, 12e-9}};
  const double full = foretold_of_thin(132 * 32, 1000, cached);
  EXPECT_LT(foretold_of_thin(66 * 32, 1000, cached), full - 1e-6);
  EXPECT_LT(foretold_of_thin(33 * 32, 1000, cached), foretold_of_thin(66 * 32, 1000, cached));
  // They are no faster than their own loads.
  EXPECT_GT(foretold_of_thin(32, 1000, cached), 2e-6 + 0.3 * 1000 * 3e-9);
  // Half of what the busiest unit has more than others shows.
  EXPECT_DOUBLE_EQ(foretold_of_thin(198 * 32, 1000, cached), 2e-6 + 1000 * 1.75 * 3e-9);
}

// Work-groups of 256 work-items: one of them fits on a unit whatever it needs.
TEST(CostModel, KnowsThatClustersDoNotFillTheDevice) {
  const KernelSpec& spec = find_kernel("pipelined");
  const Tunables tunables =
      settle(spec, {{"TSM", 128}, {"TSN", 128}, {"WPTM", 8}, {"WPTN", 8}, {"RESIDENT", 1}});
  const Calibration calibration{&spec, tunables, {{1, 0.0, 1e-6}, {2, 0.0, 2e-6}}};
  DeviceInfo device = large_gpu();
  device.clusters = true;
  ASSERT_EQ(device.compute_units, 132u);
  const auto turns = [&](double groups, double parts) {
    return std::lround(1e6 * predict_seconds(Problem::packed(64, 64, 64), calibration, {}, device, groups,
                                             1.0, {parts, parts > 1.0}));
  };
  EXPECT_EQ(turns(132, 1), 1);
  EXPECT_EQ(turns(133, 1), 2);
  EXPECT_EQ(turns(132, 2), 1);
  EXPECT_EQ(turns(120, 8), 1);
  EXPECT_EQ(turns(128, 8), 2);
  EXPECT_EQ(turns(110, 5), 1);
  EXPECT_EQ(turns(115, 5), 2);
}

TEST(CostModel, ForetellsNoLessThanAKernelWithoutWorkTakes) {
  const KernelSpec& spec = find_kernel("general");
  Tuning tuning;
  tuning.bandwidth = 3e12;
  tuning.launch = 2e-6;
  EXPECT_GE(predict_seconds(Problem::packed(4, 4, 4), {&spec, settle(spec, {}), {{1, 1e-7, 1e-8}}}, tuning,
                            large_gpu(), 1.0, 4.0, {}),
            2e-6);
}

TEST(CostModel, KnowsThatShortRunsOfCAreWrittenSlowly) {
  const KernelSpec& spec = find_kernel("general");
  Tuning tuning;
  tuning.bandwidth = 3e12;
  const auto foretold_with = [&](int per_item) {
    const Tunables tunables = settle(spec, {{"TSM", 64}, {"WPTM", per_item}});
    return predict_seconds(Problem::packed(4096, 4096, 4), {&spec, tunables, {{1, 0.0, 0.0}}}, tuning,
                           large_gpu(), 1.0, 1.0, {});
  };
  EXPECT_GT(foretold_with(8), 1.3 * foretold_with(4));
  EXPECT_GT(foretold_with(4), 1.1 * foretold_with(2));
}

// Of a kernel that was measured with vectors of four.
bool is_offered(Calibration calibration, int turn_async, const Problem& problem) {
  calibration.tunables["TURN_ASYNC"] = turn_async;
  return !choices_with(calibration, problem, large_gpu(), {}).empty();
}

TEST(Planner, DoesNotMindTheWidthOfOperandsThatAreTurnedValueByValue) {
  const Calibration calibration = believed(1e-6, 0);
  const Problem wide = make_problem(plain, 256, 256, 64);
  EXPECT_TRUE(is_offered(calibration, 0, wide));
  EXPECT_TRUE(is_offered(calibration, 1, wide));
  Problem narrow_b = wide;  // whose columns are turned, and A's are not
  narrow_b.ldb = 65;
  EXPECT_FALSE(is_offered(calibration, 0, narrow_b));
  EXPECT_TRUE(is_offered(calibration, 1, narrow_b));
  Problem narrow_a = wide;
  narrow_a.lda = 257;
  EXPECT_FALSE(is_offered(calibration, 1, narrow_a));
}

// Into how many parts of k the choices with a kernel go that was measured with C in vectors, or not.
std::vector<std::int64_t> offered_parts(int width_of_c, const Problem& problem) {
  Calibration calibration = believed(1e-6, 0);
  calibration.tunables["VC"] = width_of_c;
  calibration.timings = {{1, 1e-6, 1e-9}, {12, 1e-6, 12e-9}};
  std::vector<std::int64_t> parts;
  for (const Choice& choice : choices_with(calibration, problem, large_gpu(), {})) {
    parts.push_back(choice.parts);
  }
  return parts;
}

TEST(Planner, TellsVectorsOfCFromSingleValues) {
  const Problem wide = make_problem(plain, 256, 256, 96);
  EXPECT_EQ(offered_parts(4, wide), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(offered_parts(1, wide), (std::vector<std::int64_t>{}));
  // The parts that are added up go to a workspace, where they are in vectors.
  const Problem narrow = make_problem({false, false, true, 0, true}, 256, 256, 96);
  EXPECT_EQ(offered_parts(4, narrow), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(offered_parts(1, narrow), (std::vector<std::int64_t>{1}));
}

// Parts of k need a second kernel: where the host is what takes longest, one part is no slower.
TEST(Planner, CountsWhatEachStepCostsTheHost) {
  Calibration calibration = believed(1e-6, 0);
  calibration.timings = {{1, 1e-6, 1e-8}, {12, 1e-6, 12e-8}};
  const Problem problem = make_problem(plain, 256, 256, 1024);
  const auto fastest = [&](double enqueue) {
    Tuning tuning;
    tuning.enqueue = enqueue;
    const std::vector<Choice> choices = choices_with(calibration, problem, large_gpu(), tuning);
    return std::ranges::min_element(choices, {}, [](const Choice& choice) { return *choice.seconds; })->parts;
  };
  EXPECT_GT(fastest(0.0), 1);
  EXPECT_EQ(fastest(20e-6), 1);
}

// How long it takes to copy both operands first, by prediction.
double foretold_to_repack(std::int64_t size) {
  Calibration calibration = believed(0.0, 0);
  calibration.tunables["TRANS_B"] = 1;
  Tuning tuning;
  tuning.bandwidth = 3e12;
  DeviceInfo device = large_gpu();
  device.cache_bytes = 60'000'000;
  Problem problem = make_problem({true, false, true}, size, size, size);
  const Choice choice = choices_with(calibration, problem, device, tuning).at(0);
  EXPECT_TRUE(choice.repacked);
  problem.a_op = Transpose::no;
  problem.b_op = Transpose::yes;
  return *choice.seconds - *choices_with(calibration, problem, device, tuning).at(0).seconds -
         step_seconds(tuning, device);
}

TEST(Planner, ForetellsThatHalfOfTheCacheServesRepacking) {
  // Each operand is read and written: 24 and 51 MB.
  EXPECT_NEAR(foretold_to_repack(1216), 4 * 4 * 1216.0 * 1216.0 / 6e12, 1e-9);
  EXPECT_NEAR(foretold_to_repack(1792), 0.8 * 4 * 4 * 1792.0 * 1792.0 / 3e12, 1e-9);
}

// As DUOGEMM_FORCE has it.
std::string force_text(const Choice& choice) {
  std::string text = choice.spec->name + ":parts=" + std::to_string(choice.parts) +
                     ",repacked=" + std::to_string(int{choice.repacked}) +
                     ",turning=" + std::to_string(int{choice.turning}) +
                     ",clustered=" + std::to_string(int{choice.clustered});
  for (const auto& [name, value] : choice.tunables) {
    text += "," + name + "=" + std::to_string(value);
  }
  return text;
}

TEST(Planner, CanBeForcedToWhateverIsShipped) {
  std::size_t forced = 0;
  for_each_shipped_choice(Reproducibility::run_to_run, [&](const Choice& choice, const Problem& problem) {
    setenv("DUOGEMM_FORCE", force_text(choice).c_str(), 1);
    const Choice found = choose(problem, large_gpu(), {});
    unsetenv("DUOGEMM_FORCE");
    EXPECT_EQ(to_text(found), to_text(choice));
    EXPECT_TRUE(can_run(found, problem, large_gpu())) << to_text(found);
    ++forced;
  });
  EXPECT_GT(forced, 0u);
}

TEST(Planner, StartsNoMoreWorkGroupsForABatchThanKeepTheDeviceBusy) {
  const auto groups = [](std::int64_t batch) {
    Problem problem = Problem::packed(100, 4, 4);
    problem.batch = batch;
    problem.a_stride = problem.c_stride = 400;
    problem.b_stride = 16;
    const Plan plan = plan_sgemm(find_kernel("general"), {}, problem, large_gpu());
    return plan.steps.at(0).geometry.groups;
  };
  EXPECT_EQ(groups(8000), (Extent{2, 8000, 1}));
  // 64 of each of 2 work-groups for each of 132 compute units are 8448: that makes 12 members for each.
  EXPECT_EQ(groups(100'000), (Extent{2, 8334, 1}));
}

TEST(Planner, ForetellsNoZerosWhereAKernelStopsAtK) {
  const auto foretold = [](const char* name, std::int64_t k) {
    const KernelSpec& spec = find_kernel(name);
    const Problem problem = make_problem(plain, 64, 64, k);
    const Calibration calibration{&spec, settle_for(spec, {{"TSK", 8}}, problem), {{1, 0.0, 1e-9}}};
    return *choices_with(calibration, problem, large_gpu(), {}).at(0).seconds;
  };
  EXPECT_NEAR(foretold("general", 36), 36e-9, 1e-12);
  EXPECT_NEAR(foretold("pipelined", 36), 40e-9, 1e-12);
}

TEST(Planner, CountsOffsetsThatDoNotFitInAnInt) {
  const KernelSpec& spec = find_kernel("general");
  const Problem problem = Problem::packed(128, 128, 8);
  EXPECT_EQ(spec.dictated(problem)->at("LONG_OFFSETS"), 0);
  for (const auto ld : {&Problem::lda, &Problem::ldb, &Problem::ldc}) {
    Problem far = problem;
    far.*ld = std::int64_t{1} << 24;
    EXPECT_EQ(spec.dictated(far)->at("LONG_OFFSETS"), 1);
  }
}

TEST(PlannerFit, KeepsWhatThePlannerChooses) {
  PlannerFit fit = fit_of({believed(3e-6, 0), believed(1e-6, 1), believed(2e-6, 2)});
  EXPECT_EQ(walks(fit.chosen()), std::vector{1});
  fit.eliminate(
      {1e-6, 1e-6}, [](const Choice& choice, std::size_t) { return *choice.seconds; }, never);
  EXPECT_EQ(walks(fit.chosen()), std::vector{1});
  EXPECT_DOUBLE_EQ(fit.regret(), 1.0);
}

TEST(PlannerFit, LeavesOutWhatTheModelFlatters) {
  PlannerFit fit = fit_of({believed(3e-6, 0), believed(1e-6, 1), believed(2e-6, 2)});
  const auto measure = [](const Choice& choice, std::size_t) {
    return choice.tunables.at("WALK") == 1 ? 4e-6 : *choice.seconds;
  };
  fit.eliminate({2e-6, 2e-6}, measure, never);
  EXPECT_EQ(walks(fit.chosen()), std::vector{2});
  EXPECT_DOUBLE_EQ(fit.regret(), 1.0);
}

TEST(PlannerFit, FindsTheBestOfWhatNobodyHasMeasured) {
  PlannerFit fit = fit_of({believed(1e-6, 0), believed(2e-6, 1)});
  const auto measure = [](const Choice& choice, std::size_t) {
    return choice.tunables.at("WALK") == 0 ? 9e-6 : *choice.seconds;
  };
  const double unknown = std::numeric_limits<double>::infinity();
  fit.eliminate({unknown, unknown}, measure, never);
  EXPECT_EQ(walks(fit.chosen()), std::vector{1});
}

TEST(PlannerFit, KeepsTheOnlyKernelHoweverSlow) {
  PlannerFit fit = fit_of({believed(1e-6, 0)});
  fit.eliminate(
      {1e-6, 1e-6}, [](const Choice&, std::size_t) { return 5e-6; }, never);
  EXPECT_EQ(walks(fit.chosen()), std::vector{0});
  EXPECT_NEAR(fit.regret(), 5.0, 1e-9);
}

// A compiler that is done only when as many compile as there are threads.
class TogetherDevice final : public Device {
 public:
  explicit TogetherDevice(unsigned together) : together_(together) {}
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t) override { return nullptr; }
  std::unique_ptr<Queue> create_queue() override { return nullptr; }
  std::string build_options(const ProgramSource&) const override { return ""; }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    std::unique_lock lock(mutex_);
    ++compiled_;
    changed_.notify_all();
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return compiled_ >= together_; })) {
      throw Error(Status::build_failed, "alone");
    }
    if (source.entry == "scale") {
      throw Error(Status::build_failed, "refused");
    }
    return nullptr;
  }
  std::shared_ptr<const Kernel> load(const std::string&, const std::string&) override { return nullptr; }

 private:
  DeviceInfo info_;
  unsigned together_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned compiled_ = 0;
};

TEST(CompilePool, CompilesSeveralAtOnceAndTellsWhatWasRefused) {
  TogetherDevice device(3);
  ProgramCache programs(device, DiskCache({}));
  CompilePool pool(programs, 3);
  for (const char* name : {"general", "pipelined", "scale"}) {
    const KernelSpec& spec = find_kernel(name);
    pool.add({pool.pending(), &spec, settle(spec, {})});
  }
  EXPECT_EQ(pool.pending(), 3u);
  std::set<std::size_t> ids;
  while (pool.pending() > 0) {
    const auto job = pool.take(60.0);
    ASSERT_TRUE(job);
    ids.insert(job->id);
    EXPECT_EQ(job->failure, job->spec->name == "scale" ? "refused" : "");
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_FALSE(pool.take(0.0));
}

TEST(CompilePool, DropsWhatNobodyHasBegun) {
  TogetherDevice device(1);
  ProgramCache programs(device, DiskCache({}));
  const KernelSpec& spec = find_kernel("general");
  CompilePool pool(programs, 1);
  for (int i = 0; i < 1000; ++i) {
    pool.add({0, &spec, settle(spec, {})});
  }
}

class TunerOn : public ::testing::TestWithParam<testing::DeviceName> {};

TEST_P(TunerOn, CalibratesAKernel) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  Stopwatch stopwatch(*device.device, *device.programs);
  EXPECT_GT(stopwatch.bandwidth(), 1e8);
  EXPECT_GT(stopwatch.launch(), 0.0);
  const KernelSpec& spec = find_kernel("general");
  const Tunables tunables = settle(spec, fixed_of(spec));
  const DeviceInfo& info = device.device->info();
  Calibrator calibrator(stopwatch, info, 1e6, 1.0);
  const auto promising = [](bool is) { return [=](const std::vector<Timing>&) { return is; }; };
  const Calibration whole = calibrator.calibrate(spec, tunables, plain, promising(true));
  ASSERT_GE(whole.timings.size(), 3u);
  for (const Timing& timing : whole.timings) {
    EXPECT_GE(timing.fixed, 0.0);
    EXPECT_GT(timing.per_k, 0.0);
  }
  EXPECT_EQ(calibrator.calibrate(spec, tunables, plain, promising(false)).timings.size(), 2u);
}

TEST_P(TunerOn, CalibratesAThinKernelInTheCacheAndBeyond) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  Stopwatch stopwatch(*device.device, *device.programs);
  OperandKind thin = plain;
  thin.thin = 1;
  const KernelSpec& spec = find_kernel("thin_columns");
  const Tunables tunables = settle(spec, *spec.dictated(edge_problems(thin).front()));
  Calibrator calibrator(stopwatch, device.device->info(), 8e6, 1.0);
  const auto all = [](const std::vector<Timing>&) { return true; };
  const Calibration whole = calibrator.calibrate(spec, tunables, thin, all);
  ASSERT_GE(whole.timings.size(), 2u);
  EXPECT_GE(whole.uncached.size(), whole.timings.size());
  for (const Timing& timing : whole.uncached) {
    EXPECT_GE(timing.fixed, 0.0);
    EXPECT_GT(timing.per_k, 0.0);
  }
  const auto hopeless = [](const std::vector<Timing>&) { return false; };
  const Calibration first = calibrator.calibrate(spec, tunables, thin, hopeless);
  EXPECT_EQ(first.timings.size(), 2u);
  EXPECT_TRUE(first.uncached.empty());
}

TEST_P(TunerOn, FindsWrongKernels) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  const KernelSpec& spec = find_kernel("general");
  const Tunables tunables = settle(spec, fixed_of(spec));
  EXPECT_EQ(EdgeCheck(plain, *device.device, *device.queue, *device.programs).fault(spec, tunables), "");

  const TemporaryDirectory planted;
  for (const char* folder : {"kernels", "compat"}) {
    std::filesystem::copy(std::filesystem::path(DUOGEMM_SOURCE) / folder, planted.path() / folder,
                          std::filesystem::copy_options::recursive);
  }
  const std::filesystem::path file = planted.path() / "kernels/gemm/general.cl";
  std::string text = testing::contents_of(file);
  text.replace(text.find("acc[wn][wm] = 0.0f"), 18, "acc[wn][wm] = 1.0f");
  testing::overwrite(file, text);
  setenv("DUOGEMM_KERNEL_DIR", planted.path().c_str(), 1);
  ProgramCache programs(*device.device, DiskCache({}));
  const std::string fault = EdgeCheck(plain, *device.device, *device.queue, programs).fault(spec, tunables);
  unsetenv("DUOGEMM_KERNEL_DIR");
  EXPECT_NE(fault.find("M=300 N=276 K=203"), std::string::npos) << fault;
}

INSTANTIATE_TEST_SUITE_P(Devices, TunerOn, ::testing::ValuesIn(testing::test_devices()),
                         [](const auto& name) { return name.param.text(); });

}  // namespace
}  // namespace duogemm::bench
