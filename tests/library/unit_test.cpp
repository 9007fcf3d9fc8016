// The parts of common/ that need no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <set>

#include "check_plan.h"
#include "devices.h"
#include "families/kernel_source.h"
#include "families/kernel_spec.h"
#include "ladder/ladder.h"
#include "refusal.h"
#include "rungs/rungs.h"
#include "system/stack.h"
#include "system/temporary_directory.h"
#include "timing/measure.h"

namespace duogemm::testing {
namespace {

TEST(Tunables, ReadsNameValueMeaningAndRange) {
  const auto parsed = parse_tunables("#ifndef TS\n#define TS 32  // work-group tile: 8 16 32\n#endif\n");
  ASSERT_EQ(parsed.size(), 1u);
  EXPECT_EQ(parsed[0].name, "TS");
  EXPECT_EQ(parsed[0].standard, 32);
  EXPECT_EQ(parsed[0].meaning, "work-group tile");
  EXPECT_EQ(parsed[0].allowed_text(), "8, 16, 32");
}

TEST(Tunables, RefusesADeclarationWithoutRangeOrWithAStandardValueOutsideIt) {
  for (const auto& [declared, named] : {std::pair("32  // work-group tile", "tunable TS"),
                                        {"9  // work-group tile: 8 16", "not among the allowed"}}) {
    const std::string text = std::string("#ifndef TS\n#define TS ") + declared + "\n#endif\n";
    EXPECT_NE(refusal([&] { parse_tunables(text); }, Status::build_failed).find(named), std::string::npos);
  }
}

TEST(KernelSource, ReplacesEachIncludeOnce) {
  const std::string text = complete_text("#include \"update.h\"\n#include \"update.h\"\n");
  EXPECT_EQ(text.find("#include \"update.h\""), std::string::npos);
  EXPECT_EQ(text.find("#define UPDATE_FROM"), text.rfind("#define UPDATE_FROM"));
}

TEST(KernelSource, NamesAMissingInclude) {
  const auto complete = [] { complete_text("#include \"nothing.h\"\n"); };
  EXPECT_NE(refusal(complete).find("nothing.h"), std::string::npos);
}

TEST(KernelSource, IsReadOncePerProcessAndDirectory) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "kernels/ladder/01_naive.cl";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "#ifndef TS\n#define TS 1  // other: 1\n#endif\n";
  const KernelSource& embedded = load_kernel(any_kernel("naive").path);
  setenv("DUOGEMM_KERNEL_DIR", directory.path().c_str(), 1);
  const KernelSource& read = load_kernel("ladder/01_naive.cl");
  EXPECT_EQ(resolve(any_kernel("naive"), {}), (Tunables{{"TS", 1}}));
  std::filesystem::remove(file);
  EXPECT_EQ(&load_kernel("ladder/01_naive.cl"), &read);
  EXPECT_EQ(resolve(any_kernel("naive"), {}), (Tunables{{"TS", 1}}));
  EXPECT_THROW(load_kernel("ladder/02_tiled.cl"), Error);
  unsetenv("DUOGEMM_KERNEL_DIR");
  EXPECT_FALSE(read.embedded);
  EXPECT_EQ(read.tunables.at(0).meaning, "other");
  EXPECT_TRUE(embedded.embedded);
  EXPECT_EQ(&load_kernel("ladder/01_naive.cl"), &embedded);
}

class EveryKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryKernel, HasAFileWithTunablesAndALegalStandardSetting) {
  const KernelSpec& spec = any_kernel(GetParam());
  const KernelSource& source = load_kernel(spec.path);
  EXPECT_FALSE(source.tunables.empty());
  EXPECT_NE(kernel_text(spec.path).find(spec.name + "("), std::string::npos);
  EXPECT_NO_THROW(resolve(spec, {}));
  for (const Tunables& variant : as_rung(spec) ? as_rung(spec)->variants : std::vector<Tunables>()) {
    EXPECT_NO_THROW(resolve(spec, variant));
  }
}

TEST_P(EveryKernel, ContainsNoTestForALanguageOrVendor) {
  const std::string_view text = embedded_text("kernels/" + any_kernel(GetParam()).path);
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.find("__CUDA"), std::string_view::npos);
  EXPECT_EQ(text.find("__OPENCL"), std::string_view::npos);
  EXPECT_EQ(text.find("__NV"), std::string_view::npos);
}

// A kernel that is started early and does not wait would read what is not written yet, and only now and then.
TEST_P(EveryKernel, AwaitsTheStepBeforeItReadsAnyMatrixIfItMayBeStartedEarly) {
  const KernelSpec& spec = any_kernel(GetParam());
  const std::string_view text = embedded_text("kernels/" + spec.path);
  const std::size_t awaits = text.find("GRID_DEPENDENCY_WAIT();");
  const bool may_be_started_early = load_kernel(spec.path).needs.starts_early;
  EXPECT_EQ(awaits != std::string_view::npos, may_be_started_early);
  if (may_be_started_early) {
    const std::size_t body = text.find("{\n", text.find("__kernel"));
    const std::string before(text.substr(body, awaits - body));
    EXPECT_FALSE(
        std::regex_search(before, std::regex(R"(\b(A|B|C|W|[XYZ]\w*|to|from|bias|\w+_scales|\w+_table)\b)")))
        << before;
  }
}

TEST(KernelSource, SaysWhatTheKernelNeedsOfADevice) {
  EXPECT_TRUE(load_kernel(any_kernel("pipelined").path).needs.starts_early);
  EXPECT_FALSE(load_kernel(any_kernel("general").path).needs.starts_early);
  const DeviceNeeds tensor = load_kernel(any_kernel("tensor").path).needs;
  EXPECT_EQ(tensor.compute_capability, 90);
  EXPECT_TRUE(tensor.alone);
  const DeviceNeeds read = parse_needs("// A kernel.\n// device: compute_capability 80\nint i;\n");
  EXPECT_EQ(read.compute_capability, 80);
  EXPECT_FALSE(read.alone || read.starts_early);
  for (const char* wrong : {"clusters", "compute_capability", "compute_capability 80 or so"}) {
    const std::string text = std::string("// device: ") + wrong + "\n";
    EXPECT_THROW(parse_needs(text), Error) << wrong;
  }
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const KernelSpec* spec : all_kernels()) {
    names.push_back(spec->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryKernel, ::testing::ValuesIn(kernel_names()),
                         [](const auto& info) { return info.param; });

TEST(SmallestSetting, HasTheSmallestTileAndThenTheFewestWorkItems) {
  EXPECT_EQ(to_text(smallest_setting(any_kernel("general"), {})),
            "LONG_OFFSETS=0 TRANS_A=0 TRANS_B=0 TSK=8 TSM=16 TSN=16 WPTM=8 WPTN=8");
  const Tunables fixed = {{"TSM", 64}, {"WPTN", 2}, {"TRANS_B", 1}, {"GROUP", 128}};
  EXPECT_EQ(to_text(smallest_setting(any_kernel("general"), fixed)),
            "LONG_OFFSETS=0 TRANS_A=0 TRANS_B=1 TSK=8 TSM=64 TSN=16 WPTM=8 WPTN=2");
  EXPECT_EQ(to_text(smallest_setting(any_kernel("finish"), fixed)), "GROUP=128 WPT=1");
}

TEST(SmallestSetting, RefusesWhatNoSettingHas) {
  const auto resolved = [] { smallest_setting(any_kernel("general"), {{"TSM", 14}}); };
  EXPECT_EQ(refusal(resolved), "TSM=14: kernel general has no legal setting with these");
}

// Neither the program nor the simulator verifies a kernel that is not there.
TEST(LibrarySettings, AreOfTheKernelsThatCompute) {
  std::set<std::string> names;
  for (const LadderSetting& setting : library_settings({})) {
    names.insert(setting.spec->name);
    EXPECT_EQ(setting.spec->path.substr(0, 5), "gemm/");
  }
  EXPECT_TRUE(names.contains("general") && names.contains("finish"));
}

// As AMD's GPUs, and integrated ones, allow.
TEST(RungSettings, ShrinkToWhatADeviceAllows) {
  DeviceInfo small = large_gpu();
  small.max_work_group = 256;
  small.local_bytes = 32 << 10;
  std::vector<LadderSetting> settings = rung_settings({});
  shrink_to(small, {}, settings);
  for (const LadderSetting& setting : settings) {
    if (label_of(setting) != "17") {
      EXPECT_EQ(unsupported_reason(*setting.spec, setting.tunables, small).value_or(""), "")
          << setting.spec->name;
    }
  }
  EXPECT_EQ(to_text(settings.front().distinct), "TS=16");
  const LadderChoice chosen{{"1"}, {{"TS", 32}}, {}};
  settings = rung_settings(chosen);
  shrink_to(small, chosen, settings);
  EXPECT_EQ(settings.front().tunables.at("TS"), 32);
}

Plan plan_for(const char* name, const Problem& problem) {
  const KernelSpec& spec = any_kernel(name);
  return plan_ladder(*as_rung(spec), resolve(spec, {}), problem, large_gpu());
}

TEST(Plan, BringsOperandsIntoFormOnlyWhereNeeded) {
  EXPECT_EQ(steps_of(plan_for("naive", Problem::packed(33, 7, 5))), "naive");
  EXPECT_EQ(steps_of(plan_for("tiled", Problem::packed(64, 32, 96))), "tiled");
  EXPECT_EQ(steps_of(plan_for("tiled", Problem::packed(64, 33, 96))), "pad tiled unpad");
  EXPECT_EQ(steps_of(plan_for("tiled", Problem::packed(65, 33, 97))), "pad pad tiled unpad");
  EXPECT_EQ(steps_of(plan_for("register_2d", Problem::packed(128, 128, 16))), "transpose register_2d");
  EXPECT_EQ(steps_of(plan_for("register_2d", Problem::packed(129, 128, 16))),
            "pad transpose register_2d unpad");
  EXPECT_EQ(steps_of(plan_for("incomplete", Problem::packed(129, 127, 17))), "pad pad_transpose incomplete");
}

TEST(Plan, RefusesMatricesBeyond32BitIndices) {
  const auto plan = [] { plan_for("naive", Problem::packed(50000, 50000, 1)); };
  EXPECT_NE(refusal(plan).find("50000 x 50000"), std::string::npos);
}

// Other rungs can have such a C.
TEST(Plan, LacksTheIndicesForSplitKWhereOnlyPartialSumsAreTooLarge) {
  const auto plan = [](std::int64_t size) { plan_for("split_k", Problem::packed(size, size, 1)); };
  plan(20000);
  EXPECT_EQ(refusal([&] { plan(40000); }, Status::unsupported),
            "64-bit indices for partial sums of 40064 x 40064 elements in 4 splits");
}

// WebGPU's devices have 65535 work-groups in a dimension.
TEST(Plan, AddsSplitsUpInLaunchesOfSomeRowsWhereOneCannotHaveThemAll) {
  DeviceInfo device = large_gpu();
  device.max_groups = {100, 100, 100};
  const KernelSpec& spec = any_kernel("split_k");
  const Problem problem = Problem::packed(256, 256, 64, 1.0f, 2.0f);
  const Plan plan = plan_ladder(*as_rung(spec), resolve(spec, {}), problem, device);
  std::int64_t rows = 0;
  for (const Step& step : plan.steps) {
    if (step.kernel->spec->name != "reduce") {
      continue;
    }
    EXPECT_LE(step.geometry.groups[0], 100U);
    const auto sizes = std::get<StructArgument>(step.arguments.front()).as<ReduceArguments>();
    EXPECT_EQ(sizes.p_offset, rows);
    EXPECT_EQ(sizes.c.offset, rows);
    EXPECT_EQ(sizes.d.offset, rows);
    EXPECT_EQ(sizes.ldp, problem.m);
    rows += sizes.M;
  }
  EXPECT_EQ(rows, problem.m);
  EXPECT_GE(plan.steps.size(), 5U);
}

TEST(Plan, RefusesAWorkGroupThatTheDeviceCannotHave) {
  DeviceInfo small = large_gpu();
  small.max_work_group = 256;
  const KernelSpec& spec = any_kernel("naive");
  const auto plan = [&] { plan_ladder(*as_rung(spec), resolve(spec, {}), Problem::packed(1, 1, 1), small); };
  EXPECT_EQ(refusal(plan, Status::unsupported), "a work-group of 1024 work-items; the device allows 256");
}

TEST(Samples, MedianSpreadAndNoise) {
  const Samples samples{{1.0, 2.0, 3.0, 4.0, 100.0}, 1};
  EXPECT_DOUBLE_EQ(samples.median(), 3.0);
  EXPECT_DOUBLE_EQ(samples.spread(), 2.0 / 3.0);
  EXPECT_NEAR(samples.noise(), 1.57 * (2.0 / 3.0) / std::sqrt(5.0), 1e-12);
}

TEST(Measure, TakesTurnsAndStopsWhenQuiet) {
  std::string order;
  const Contender contenders[] = {{"a", [&](int) { return order += 'a', 1.0; }},
                                  {"b", [&](int) { return order += 'b', 2.0; }}};
  const std::vector<Samples> samples = measure(contenders, {.seconds = 1e9}, [](const std::string&) {});
  EXPECT_EQ(order, "aabbababababab");
  EXPECT_EQ(samples[1].seconds, std::vector<double>(5, 2.0));
}

// One that takes 10 microseconds, and as much again to get there and back.
TEST(Measure, RepeatsShortWorkUntilItTakesLongEnough) {
  const Contender brief{"brief", [](int repeats) { return 1e-5 * repeats + 1e-5; }};
  const std::vector<Samples> samples = measure({&brief, 1}, {}, [](const std::string&) {});
  EXPECT_NEAR(samples[0].repeats, 100, 10);
}

TEST(Measure, StopsWhenTimeIsUp) {
  double next = 1.0;
  const Contender noisy{"noisy", [&](int) { return next = 3.0 - next; }};
  const std::vector<Samples> samples = measure({&noisy, 1}, {.seconds = 30.0}, [](const std::string&) {});
  EXPECT_LE(samples[0].seconds.size(), 20u);
}

TEST(Stack, IsAnotherWhereTheCallersIsTooSmall) {
  constexpr std::size_t little = 1 << 10, much = std::size_t{64} << 20;
  EXPECT_NEAR(static_cast<double>(with_stack(little, stack_left)), static_cast<double>(stack_left()),
              1 << 14);
  EXPECT_GT(with_stack(much, stack_left), much);
  EXPECT_GT(with_stack(much, [] { return with_stack(3 * much, stack_left); }), 3 * much);
  const auto fail = []() -> int { throw Error(Status::unsupported, "why"); };
  EXPECT_EQ(refusal([&] { with_stack(much, fail); }, Status::unsupported), "why");
}

TEST(Measure, LosesPatienceWithTheSlow) {
  const Contender slow{"slow", [](int) { return 4.0; }};
  const MeasureOptions options{.seconds = 1.0, .patience = 5.0};
  const std::vector<Samples> samples = measure({&slow, 1}, options, [](const std::string&) {});
  EXPECT_EQ(samples[0].seconds, std::vector<double>(1, 4.0));
}

}  // namespace
}  // namespace duogemm::testing
