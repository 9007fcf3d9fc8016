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
#include <thread>
#include <tuple>

#include "check/inputs.h"
#include "devices.h"
#include "families/kernel_source.h"
#include "families/kernel_spec.h"
#include "families/plan.h"
#include "ladder/ladder.h"
#include "legal_settings.h"
#include "plan/tuning.h"
#include "rungs/rungs.h"
#include "system/stack.h"
#include "system/temporary_directory.h"
#include "timing/measure.h"

namespace duogemm {
namespace {

template <typename Call>
std::string message_of(Call&& call, Status expected) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), expected);
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

TEST(Tunables, ReadsNameValueMeaningAndRange) {
  const auto parsed = parse_tunables("#ifndef TS\n#define TS 32  // work-group tile: 8 16 32\n#endif\n");
  ASSERT_EQ(parsed.size(), 1u);
  EXPECT_EQ(parsed[0].name, "TS");
  EXPECT_EQ(parsed[0].standard, 32);
  EXPECT_EQ(parsed[0].meaning, "work-group tile");
  EXPECT_EQ(parsed[0].allowed_text(), "8, 16, 32");
}

TEST(Tunables, RefusesADeclarationWithoutRange) {
  const auto parse = [] { parse_tunables("#ifndef TS\n#define TS 32  // work-group tile\n#endif\n"); };
  EXPECT_NE(message_of(parse, Status::build_failed).find("tunable TS"), std::string::npos);
}

TEST(Tunables, RefusesAStandardValueOutsideTheRange) {
  const auto parse = [] { parse_tunables("#ifndef TS\n#define TS 9  // work-group tile: 8 16\n#endif\n"); };
  EXPECT_NE(message_of(parse, Status::build_failed).find("not among the allowed"), std::string::npos);
}

TEST(KernelSource, ReplacesEachIncludeOnce) {
  const std::string text = complete_text("#include \"update.h\"\n#include \"update.h\"\n");
  EXPECT_EQ(text.find("#include \"update.h\""), std::string::npos);
  EXPECT_EQ(text.find("#define UPDATE_FROM"), text.rfind("#define UPDATE_FROM"));
}

TEST(KernelSource, NamesAMissingInclude) {
  const auto complete = [] { complete_text("#include \"nothing.h\"\n"); };
  EXPECT_NE(message_of(complete, Status::invalid_argument).find("nothing.h"), std::string::npos);
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

TEST(LegalSettings, AreAllSettled) {
  const KernelSpec& spec = any_kernel("transposed");
  const std::vector<Tunables> settings = legal_settings(spec);
  EXPECT_GT(settings.size(), 100u);
  for (const Tunables& setting : settings) {
    EXPECT_NO_THROW(resolve(spec, setting));
  }
}

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
  EXPECT_EQ(message_of(resolved, Status::invalid_argument),
            "TSM=14: kernel general has no legal setting with these");
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

TEST(RandomProblem, PlacesTheMembersOfABatchApart) {
  Problem problem = Problem::packed(5, 4, 3, 1.0f, 1.0f);
  problem.ldc = 7;
  problem.batch = 3;
  problem.b_stride = 15;
  problem.c_stride = 30;
  const auto places = [](std::initializer_list<std::int64_t> values) { return std::vector(values); };
  const HostProblem strided = random_problem(problem, Distribution::unit, 1);
  EXPECT_EQ(strided.a_places, places({0, 0, 0}));
  EXPECT_EQ(strided.b_places, places({0, 15, 30}));
  EXPECT_EQ(strided.c_places, places({0, 30, 60}));
  EXPECT_EQ(strided.c.size(), 60u + 26u);
  problem.batch_by = BatchBy::offsets;
  const HostProblem listed = random_problem(problem, Distribution::unit, 1);
  EXPECT_EQ(listed.c_places, places({2 * 29, 28, 0}));
  EXPECT_EQ(listed.c.size(), 2u * 29u + 26u);
  EXPECT_EQ(std::count_if(listed.c.begin(), listed.c.end(), [](float x) { return !std::isnan(x); }), 3 * 20);
}

Plan plan_for(const char* name, const Problem& problem) {
  const KernelSpec& spec = any_kernel(name);
  return plan_ladder(*as_rung(spec), resolve(spec, {}), problem, testing::large_gpu());
}

std::string steps_of(const Plan& plan) {
  std::string names;
  for (const Step& step : plan.steps) {
    names += (names.empty() ? "" : " ") + step.kernel->spec->name;
  }
  return names;
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
  EXPECT_NE(message_of(plan, Status::invalid_argument).find("50000 x 50000"), std::string::npos);
}

// Other rungs can have such a C.
TEST(Plan, LacksTheIndicesForSplitKWhereOnlyPartialSumsAreTooLarge) {
  const auto plan = [](std::int64_t size) { plan_for("split_k", Problem::packed(size, size, 1)); };
  plan(20000);
  EXPECT_EQ(message_of([&] { plan(40000); }, Status::unsupported),
            "64-bit indices for partial sums of 40064 x 40064 elements in 4 splits");
}

TEST(Plan, RefusesAWorkGroupThatTheDeviceCannotHave) {
  DeviceInfo small = testing::large_gpu();
  small.max_work_group = 256;
  const KernelSpec& spec = any_kernel("naive");
  const auto plan = [&] { plan_ladder(*as_rung(spec), resolve(spec, {}), Problem::packed(1, 1, 1), small); };
  EXPECT_EQ(message_of(plan, Status::unsupported), "a work-group of 1024 work-items; the device allows 256");
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

TEST(Stack, IsAnothersWhereTheCallersIsTooSmall) {
  constexpr std::size_t little = 1 << 10, much = std::size_t{64} << 20;
  const auto thread = [] { return std::this_thread::get_id(); };
  EXPECT_EQ(with_stack(little, thread), thread());
  EXPECT_NE(with_stack(much, thread), thread());
  EXPECT_GT(with_stack(much, stack_left), much);
  const auto fail = []() -> int { throw Error(Status::unsupported, "why"); };
  EXPECT_EQ(message_of([&] { with_stack(much, fail); }, Status::unsupported), "why");
}

TEST(Measure, LosesPatienceWithTheSlow) {
  const Contender slow{"slow", [](int) { return 4.0; }};
  const MeasureOptions options{.seconds = 1.0, .patience = 5.0};
  const std::vector<Samples> samples = measure({&slow, 1}, options, [](const std::string&) {});
  EXPECT_EQ(samples[0].seconds, std::vector<double>(1, 4.0));
}

Tuning some_tuning() {
  const KernelSpec& spec = any_kernel("pipelined");
  Tuning tuning;
  tuning.target = {"cuda", "gpu", "some device", 90, 16};
  tuning.source = "some file";
  tuning.evidence = "measured";
  tuning.bandwidth = 4e12;
  tuning.launch = 1.5e-6;
  tuning.reading = 5e12;
  tuning.clusters = {16, 120};
  tuning.cache = 6e7;
  const KernelSpec& other = any_kernel("general");
  tuning.calibrations = {{&spec, resolve(spec, {{"TSM", 128}}), {{1, 2e-6, 5e-8}, {2, 3e-6, 1e-7}}},
                         {&spec, resolve(spec, {{"TSM", 64}}), {{1, 2e-6, 5e-8}}},
                         {&other, resolve(other, {}), {{1, 1.25e-6, 5e-8}}}};
  tuning.registers = {{"COLS", 8}, {"WIDTH", 16}};
  tuning.shapes = {{true, false, 100, 200, 300, 4, {&spec, {{"TSM", 32}}, 2, true, true, false}, 1e-5}};
  return tuning;
}

TEST(Tuning, IsReadAsItWasWritten) {
  const Tuning written = some_tuning();
  const std::string json = to_json(written);
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 31) << json;  // a line for each setting and shape
  const Tuning read = parse_tuning(json, "some file");
  EXPECT_EQ(to_json(read), json);
  EXPECT_EQ(read.target.name, "some device");
  EXPECT_DOUBLE_EQ(read.reading, 5e12);
  EXPECT_DOUBLE_EQ(read.clusters.usable_units, 120);
  EXPECT_DOUBLE_EQ(read.cache, 6e7);
  EXPECT_EQ(read.target.compute_capability, 90);
  EXPECT_EQ(read.target.vector_floats, 16);
  EXPECT_EQ(read.registers, (Tunables{{"COLS", 8}, {"WIDTH", 16}}));
  ASSERT_EQ(read.calibrations.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.calibrations[i].spec, written.calibrations[i].spec);
    EXPECT_EQ(read.calibrations[i].tunables, written.calibrations[i].tunables);
  }
  ASSERT_EQ(read.calibrations[0].timings.size(), 2u);
  EXPECT_DOUBLE_EQ(read.calibrations[0].timings[1].per_k, 1e-7);
  ASSERT_EQ(read.shapes.size(), 1u);
  EXPECT_EQ(read.shapes[0].request.splits, 2);
  EXPECT_TRUE(read.shapes[0].request.pack_a);
  EXPECT_FALSE(read.shapes[0].request.pack_b);
  EXPECT_TRUE(read.shapes[0].request.clustered);
  EXPECT_DOUBLE_EQ(read.shapes[0].seconds, 1e-5);
}

// A device whose memory alone is another than that of a device whose kernels were measured.
TEST(Tuning, TakesTheKernelsOfABuiltInFile) {
  const auto file = [](const std::string& kernels_of) {
    return R"({"schema": "duogemm.tuning/4", "device": {}, "bandwidth_gb_s": 7, "launch_us": 1,)"
           R"( "kernels_of": ")" +
           kernels_of + R"(", "kernels": []})";
  };
  const Tuning read = parse_tuning(file("h200.json"), "some file");
  EXPECT_DOUBLE_EQ(read.bandwidth, 7e9);
  const auto embedded = embedded_tunings();
  const auto named = std::find_if(embedded.begin(), embedded.end(), [](const EmbeddedTuning& each) {
    return each.name.ends_with("/h200.json");
  });
  ASSERT_NE(named, embedded.end());
  EXPECT_EQ(read.calibrations.size(), tuning_of(*named).calibrations.size());
  EXPECT_GT(read.calibrations.size(), 0u);
  const std::string message =
      message_of([&] { parse_tuning(file("h201.json"), "t.json"); }, Status::invalid_argument);
  EXPECT_EQ(message.find("t.json: kernels_of is \"h201.json\"; the library has "), 0u) << message;
  EXPECT_NE(message.find("h200.json"), std::string::npos) << message;
}

TEST(Tuning, NamesTheFileAndWhatIsWrongInIt) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    std::string json = to_json(some_tuning());
    json.replace(json.find(from), from.size(), to);
    return message_of([&] { parse_tuning(json, "t.json"); }, Status::invalid_argument);
  };
  for (const auto& [from, to, named] :
       {std::tuple("tuning/4", "tuning/9", "tuning/9"), std::tuple("pipelined", "unheard_of", "unheard_of"),
        std::tuple(",128,", ",129,", "TSM=129"), std::tuple(",128,", ",", "values"),
        std::tuple("\"TSM\"", "\"TSQ\"", "TSQ"), std::tuple("[[1,1.25,50.0]]", "[]", "no timings"),
        std::tuple("\"WIDTH\": 16", "\"WIDTH\": 17", "WIDTH=17"),
        std::tuple("\"kernels\"", "\"kernel\"", "kernels"), std::tuple("{", "", "no JSON")}) {
    const std::string message = refusal(from, to);
    EXPECT_EQ(message.find("t.json: "), 0u) << message;
    EXPECT_NE(message.find(named), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace duogemm
