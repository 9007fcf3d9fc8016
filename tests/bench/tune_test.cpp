// The parts of the tuner: most need no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <set>
#include <thread>

#include "fake_device.h"
#include "files.h"
#include "plan/cost_model.h"
#include "system/temporary_directory.h"
#include "test_devices.h"
#include "tune/tuner.h"

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

const OperandKind plain{"NN", true};

// Gives the tunables that the first kind of operands fixes which the kernel takes, the plain kind where it
// does.
Tunables fixed_of(const KernelSpec& spec) {
  std::vector<OperandKind> kinds = {plain};
  std::ranges::copy(operand_kinds(), std::back_inserter(kinds));
  for (const OperandKind& kind : kinds) {
    if (const std::optional<Tunables> fixed = fixed_tunables(spec, edge_problems(kind).front())) {
      return *fixed;
    }
  }
  throw std::logic_error(spec.name + " takes no kind of operands");
}

void expect_legal(const KernelSpec& spec, const Tunables& tunables) {
  EXPECT_EQ(resolve(spec, tunables), tunables);  // throws where a value or a rule does not hold
  EXPECT_EQ(unsupported_reason(spec, tunables, large_gpu()), std::nullopt) << to_text(tunables);
  for (const auto& [name, value] : fixed_of(spec)) {
    EXPECT_EQ(tunables.at(name), value) << name;
  }
}

// On problems of size 1, 2, ...
std::vector<BeforeAfter> with_ratios(const std::vector<double>& ratios, bool asked) {
  std::vector<BeforeAfter> compared;
  for (const double ratio : ratios) {
    const auto size = static_cast<std::int64_t>(compared.size()) + 1;
    compared.push_back({std::to_string(size), Problem::packed(size, size, size), asked, ratio, 1.0});
  }
  return compared;
}

// A kernel of which the model believes that a work-group takes `seconds`, whatever it does.
Calibration believed(double seconds, int walk) {
  const KernelSpec& spec = find_kernel("pipelined");
  Tunables tunables = fixed_of(spec);
  tunables["FMA_ORDER"] = walk;
  return {&spec, resolve(spec, tunables), {{1, seconds, 0.0}, {2, 2.0 * seconds, 0.0}}};
}

TEST(WorthWriting, IsWhatIsFasterOnAverage) {
  Tuning before;
  before.evidence = "before";
  before.launch = 1.0;
  Tuning found;
  found.evidence = "found";
  found.launch = 2.0;
  EXPECT_FALSE(worth_writing(before, found, {}));
  EXPECT_FALSE(worth_writing(before, found, with_ratios({1.005, 1.0}, false)));
  const auto kept = worth_writing(before, found, with_ratios({1.2, 0.9}, false));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->launch, 2.0);
}

TEST(WorthWriting, IsAsFastWithFewerSettings) {
  Tuning before;
  before.calibrations = {believed(1e-6, 0), believed(1e-6, 1)};
  Tuning found;
  found.calibrations = {believed(1e-6, 0)};
  EXPECT_TRUE(worth_writing(before, found, with_ratios({1.1, 0.91}, false)));
  EXPECT_FALSE(worth_writing(before, found, with_ratios({1.0, 0.98}, false)));
  EXPECT_FALSE(worth_writing(before, found, {}));
  EXPECT_FALSE(worth_writing(found, before, with_ratios({1.1, 0.91}, false)));
}

TEST(WorthWriting, IsTheBestOfAShapeWhereAllElseStays) {
  Tuning before;
  before.launch = 1.0;
  Tuning found;
  found.launch = 2.0;
  const auto shape = [](std::int64_t size) {
    return TunedShape{false, false, size, size, size, 1, {&find_kernel("general")}, 1.0};
  };
  found.shapes = {shape(1), shape(2), shape(3)};
  const auto kept = worth_writing(before, found, with_ratios({1.2, 0.9}, true));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->launch, 1.0);
  ASSERT_EQ(kept->shapes.size(), 1u);
  EXPECT_EQ(kept->shapes[0].m, 1);
}

TEST(BeforeAfter, TellsBothAndTheMean) {
  const std::string text = comparison_text({with_ratios({2.0, 0.5}, false), {"same"}}, "held out");
  EXPECT_EQ(text.find("held out"), 0u) << text;
  EXPECT_NE(text.find("For 1 shapes the library would choose as before."), std::string::npos) << text;
  EXPECT_NE(text.find("GFLOP/s before"), std::string::npos) << text;
  EXPECT_NE(text.find("1.000"), std::string::npos) << text;
  EXPECT_EQ(ratios_of(with_ratios({2.0, 0.5}, false)).worst_label, "2");
}

TEST(SettingSpace, DrawsLegalSettingsOfEveryProductionKernel) {
  const DeviceInfo device = large_gpu();
  Random random(1);
  for (const KernelSpec& spec : registry()) {
    const bool is_tuned =
        spec.family && spec.family->is_measured() && spec.family->multiplies_in(Precision::fp32);
    if (!is_tuned) {
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
    EXPECT_GT(different.size(), 25u);  // `direct` has 36
  }
}

TEST(SettingSpace, AdoptsWhatOtherOperandsHad) {
  const DeviceInfo device = large_gpu();
  const KernelSpec& spec = find_kernel("pipelined");
  const SettingSpace space(spec, fixed_of(spec), device);
  Tunables other = resolve(spec, {{"TRANS_A", 1}, {"TSM", 128}});
  const auto adopted = space.adopt(other);
  ASSERT_TRUE(adopted);
  expect_legal(spec, *adopted);
  EXPECT_EQ(adopted->at("TSM"), 128);
}

TEST(Proposals, BeginWithSeedsAndGoOnWithChildrenOfTheBestWithoutRepetition) {
  const DeviceInfo device = large_gpu();
  const KernelSpec& spec = find_kernel("pipelined");
  std::vector<Field> fields(1);
  Field& field = fields.front();
  field.kind = plain;
  const SettingSpace& space =
      field.spaces.emplace(&spec, SettingSpace(spec, fixed_of(spec), device)).first->second;
  const auto seed = std::make_shared<TriedSetting>(TriedSetting{{&spec, *space.adopt({}), {}}});
  field.seeds = {seed, seed};
  field.probes = {{"", {}, {{seed, 1, 1.0}}}};
  Random random(1);
  const std::vector<Proposals::Proposal> proposals = Proposals(fields, random).next(100);
  ASSERT_EQ(proposals.size(), 100u);
  EXPECT_EQ(proposals.front().setting, seed);
  std::set<std::string> names;
  std::size_t near = 0;
  for (const auto& [of, setting] : proposals) {
    EXPECT_TRUE(names.insert(name_of(*setting)).second) << name_of(*setting);
    expect_legal(spec, setting->tunables);
    near += space.distance(seed->tunables, setting->tunables) < 2.0;
  }
  EXPECT_GT(near, 50u);  // settings at random are farther away
}

TEST(RandomShapes, AreTheSameForASeed) {
  const std::vector<NamedShape> shapes = random_shapes(7, 400, Precision::fp32);
  const std::vector<NamedShape> again = random_shapes(7, 400, Precision::fp32);
  const std::vector<NamedShape> others = random_shapes(8, 400, Precision::fp32);
  ASSERT_EQ(shapes.size(), 400u);
  EXPECT_EQ(shapes.front().label, "long0");
  std::size_t in_eights = 0;
  std::size_t as_others = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Problem& p = shapes[i].problem;
    EXPECT_EQ(p.m * p.n * p.k * p.batch,
              again[i].problem.m * again[i].problem.n * again[i].problem.k * again[i].problem.batch);
    EXPECT_GE(std::min({p.m, p.n, p.k, p.batch}), 1) << shapes[i].label;
    in_eights += p.m % 8 == 0 && p.n % 8 == 0;
    as_others += p.m == others[i].problem.m;
  }
  EXPECT_GT(in_eights, 150u);
  EXPECT_LT(in_eights, 250u);
  EXPECT_LT(as_others, 40u);
}

TEST(Probes, AreCompiledAsTheirKindSays) {
  std::vector<OperandKind> kinds = operand_kinds();
  std::ranges::copy(operand_kinds(Precision::f16x3), std::back_inserter(kinds));
  for (const OperandKind& kind : kinds) {
    SCOPED_TRACE(kind.name());
    std::set<std::string> labels;
    const std::vector<Problem> edges = edge_problems(kind);
    std::vector<NamedShape> probes = make_probes(kind);
    for (const Problem& edge : edges) {
      probes.push_back({"edge " + std::to_string(edge.m), edge});
    }
    for (const NamedShape& probe : probes) {
      SCOPED_TRACE(probe.label);
      EXPECT_NO_THROW(validate(probe.problem));
      EXPECT_TRUE(labels.insert(probe.label).second);
      for (const KernelSpec& spec : registry()) {
        if (spec.family && spec.family->is_measured() &&
            spec.family->measured_on_skinny() == (kind.skinny != 0)) {
          EXPECT_EQ(spec.family->storage(probe.problem), spec.family->storage(edges.front()));
        }
      }
    }
  }
}

std::vector<int> walks(const PlannerFit& fit) {
  std::vector<int> walks;
  for (const Calibration& calibration : fit.chosen) {
    walks.push_back(calibration.tunables.at("FMA_ORDER"));
  }
  return walks;
}

const std::function<bool()> never = [] { return false; };

// On two problems, the best of which take `best` seconds, and what the model believes of walk `flattered` is
// wrong.
PlannerFit fit_of(const std::vector<Calibration>& calibrations, double best, int flattered, double really) {
  const auto measure = [&](const Schedule& schedule, std::size_t) {
    return schedule.kernel->tunables.at("FMA_ORDER") == flattered ? really : *schedule.seconds;
  };
  return fit_planner(calibrations, {make_problem(plain, 64, 64, 32), make_problem(plain, 256, 256, 32)},
                     large_gpu(), {}, {best, best}, measure, never);
}

TEST(PlannerFit, KeepsWhatThePlannerChooses) {
  const std::vector<Calibration> three = {believed(3e-6, 0), believed(1e-6, 1), believed(2e-6, 2)};
  EXPECT_EQ(walks(fit_planner(three, {make_problem(plain, 64, 64, 32)}, large_gpu(), {})), std::vector{1});
  const PlannerFit fit = fit_of(three, 1e-6, -1, 0.0);
  EXPECT_EQ(walks(fit), std::vector{1});
  EXPECT_DOUBLE_EQ(fit.regret, 1.0);
}

TEST(PlannerFit, LeavesOutWhatTheModelFlatters) {
  const PlannerFit fit = fit_of({believed(3e-6, 0), believed(1e-6, 1), believed(2e-6, 2)}, 2e-6, 1, 4e-6);
  EXPECT_EQ(walks(fit), std::vector{2});
  EXPECT_DOUBLE_EQ(fit.regret, 1.0);
}

// One is the fastest for small problems, the other for large ones.
TEST(PlannerFit, KeepsASettingThatIsWorthItsProgram) {
  const auto left = [](double other_on_small) {
    Calibration small = believed(1e-6, 0);
    Calibration large = believed(other_on_small, 1);
    small.timings[1].fixed = 4e-6;
    large.timings[1].fixed = 2e-6;
    const auto as_predicted = [](const Schedule& schedule, std::size_t) { return *schedule.seconds; };
    return walks(fit_planner({small, large},
                             {make_problem(plain, 64, 64, 32), make_problem(plain, 4096, 4096, 32)},
                             large_gpu(), {}, {infinity, infinity}, as_predicted, never));
  };
  EXPECT_EQ(left(1.1e-6), (std::vector{0, 1}));
  EXPECT_EQ(left(1.0001e-6), std::vector{1});
}

TEST(PlannerFit, FindsTheBestOfWhatNobodyHasMeasured) {
  EXPECT_EQ(walks(fit_of({believed(1e-6, 0), believed(2e-6, 1)}, infinity, 0, 9e-6)), std::vector{1});
}

TEST(PlannerFit, KeepsTheOnlyKernelHoweverSlow) {
  const PlannerFit fit = fit_of({believed(1e-6, 0)}, 1e-6, 0, 5e-6);
  EXPECT_EQ(walks(fit), std::vector{0});
  EXPECT_NEAR(fit.regret, 5.0, 1e-9);
}

TEST(CompilingAll, CompilesSeveralAtOnceAndTellsWhatWasRefused) {
  testing::Faults faults;
  testing::FakeDevice device{faults};
  std::atomic<int> at_work = 0;
  device.at_work = [&](const std::string& entry) {
    ++at_work;
    for (int i = 0; i < 600 && at_work < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    if (at_work < 3 || entry == "finish") {
      throw Error(Status::build_failed, entry == "finish" ? "refused" : "alone");
    }
  };
  ProgramCache programs(device, DiskCache({}));
  std::vector<const Variant*> kernels;
  for (const char* name : {"general", "pipelined", "finish"}) {
    const KernelSpec& spec = find_kernel(name);
    kernels.push_back(&variant_of(spec, resolve(spec, {})));
  }
  const std::vector<std::optional<std::string>> refusals = {"", "", "refused"};
  EXPECT_EQ(compile_all(kernels, programs, 3, never), refusals);
}

TEST(CompilingAll, BeginsNothingMoreOnceItIsEnough) {
  testing::Faults faults;
  testing::FakeDevice device{faults};
  ProgramCache programs(device, DiskCache({}));
  const KernelSpec& spec = find_kernel("general");
  const std::vector<const Variant*> kernels(1000, &variant_of(spec, resolve(spec, {})));
  int asked = 0;
  const auto refusals = compile_all(kernels, programs, 1, [&] { return ++asked > 3; });
  EXPECT_EQ(std::ranges::count(refusals, std::optional<std::string>("")), 3);
  EXPECT_EQ(std::ranges::count(refusals, std::optional<std::string>()), 997);
}

class TunerOn : public ::testing::TestWithParam<testing::DeviceName> {};

// Further than twice only where the first two timings are promising.
void expect_calibrated(const testing::TestDevice& device, const KernelSpec& spec, const OperandKind& kind) {
  Stopwatch stopwatch(*device.device, *device.programs);
  EXPECT_GT(stopwatch.launch(), 0.0);
  const Tunables tunables = resolve(spec, *fixed_tunables(spec, edge_problems(kind).front()));
  const Calibrator calibrator{stopwatch, device.device->info(), 8e6, 1.0};
  const auto promising = [](bool is) { return [=](const std::vector<Timing>&) { return is; }; };
  const Calibration whole = calibrator.calibrate(spec, tunables, kind, promising(true));
  ASSERT_GE(whole.timings.size(), kind.skinny == 0 && kind.precision == Precision::fp32 ? 3u : 2u);
  for (const Timing& timing : whole.timings) {
    EXPECT_GE(timing.fixed, 0.0);
    EXPECT_GT(timing.per_k, 0.0);
  }
  EXPECT_EQ(calibrator.calibrate(spec, tunables, kind, promising(false)).timings.size(), 2u);
}

TEST_P(TunerOn, CalibratesKernels) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  expect_calibrated(device, find_kernel("general"), plain);
  expect_calibrated(device, find_kernel("direct"), plain);
  OperandKind skinny = plain;
  skinny.skinny = 1;
  expect_calibrated(device, find_kernel("skinny_columns"), skinny);
}

TEST_P(TunerOn, CalibratesAKernelForTensorCores) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  const KernelSpec& spec = find_kernel("tensor");
  const OperandKind kind{"NN", true, 0, Precision::f16x3};
  const Tunables tunables = resolve(spec, *fixed_tunables(spec, edge_problems(kind).front()));
  if (const auto reason = unsupported_reason(spec, tunables, device.device->info())) {
    const std::atomic<bool> stop = false;
    TuneOptions options;
    options.precision = Precision::f16x3;
    EXPECT_THROW(Tuner(*device.device, options, {}, {}, stop), Error);
    GTEST_SKIP() << device.device->info().name << " needs " << *reason;
  }
  EXPECT_EQ(EdgeCheck(kind, *device.device, *device.queue, *device.programs).fault(spec, tunables), "");
  expect_calibrated(device, spec, kind);
}

TEST_P(TunerOn, FindsWrongKernels) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  const KernelSpec& spec = find_kernel("general");
  const Tunables tunables = resolve(spec, fixed_of(spec));
  EXPECT_EQ(EdgeCheck(plain, *device.device, *device.queue, *device.programs).fault(spec, tunables), "");

  const TemporaryDirectory planted;
  testing::plant_mistake(DUOGEMM_SOURCE, planted.path(), "kernels/gemm/general.cl",
                         "acc[wn][wm] = fma(a, b[wn],", "acc[wn][wm] = fma(a, 2.0f * b[wn],");
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
