// The program as a user meets it: what it answers to good and to bad input.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace duogemm::testing {
namespace {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

class Program : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Outcome run(const std::string& arguments) const {
    const std::string command =
        "cd '" + folder_.string() + "' && '" DUOGEMM_PROGRAM "' " + arguments + " >stdout.txt 2>stderr.txt";
    const int status = std::system(command.c_str());
    Outcome outcome{WEXITSTATUS(status), read_file(folder_ / "stdout.txt"),
                    read_file(folder_ / "stderr.txt")};
    std::filesystem::remove(folder_ / "stdout.txt");
    std::filesystem::remove(folder_ / "stderr.txt");
    return outcome;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("duogemm_cli_test_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
       "_" + std::to_string(getpid()));
};

// What is wrong, and the parts of the one line that must say so.
struct BadInput {
  std::string arguments;
  std::vector<std::string> named;
};

void expect_refused(const Outcome& outcome, const BadInput& bad) {
  SCOPED_TRACE(bad.arguments + " -> " + outcome.err);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  for (const std::string& part : bad.named) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part;
  }
}

TEST_F(Program, RefusesBadInputInOneLine) {
  const std::vector<BadInput> inputs = {
      {"",
       {"no command",
        "compare, devices, explain, ladder, latency, plan, replay, report, sweep, tune, verify, warm"}},
      {"climb",
       {"no command 'climb'",
        "compare, devices, explain, ladder, latency, plan, replay, report, sweep, tune, verify, warm"}},
      {"ladder --sise 64", {"--sise"}},
      {"ladder --kernels 12 --size 64", {"no kernel '12'", "1 (naive)", "11 (registers_only)"}},
      {"ladder --kernels 1,fast --size 64", {"no kernel 'fast'", "naive"}},
      {"ladder --device -1 --size 64", {"--device", "-1"}},
      {"ladder --backend vulkan --size 64", {"--backend", "vulkan", "opencl"}},
      {"ladder --size 0", {"--size", "0", "range", "16777216"}},
      {"ladder -m -5 -n 8 -k 8", {"-m", "-5", "range", "16777216"}},
      {"ladder --size many", {"--size", "many"}},
      {"ladder --size 99999999999", {"--size", "99999999999", "range", "16777216"}},
      {"ladder -m 64 -n 64", {"-k is missing"}},
      {"ladder --size 64 --kernels 6 --set WPTM=3", {"WPTM=3", "1, 2, 4, 8"}},
      {"ladder --size 64 --kernels 10 --set WPTM=10", {"TSM to be a multiple of WPTM"}},
      {"ladder --size 64 --kernels 6 --set TSX=3", {"TSX", "none of the chosen kernels"}},
      {"ladder --size 64 --kernels 6 --set TSM", {"--set TSM", "NAME=NUMBER"}},
      {"ladder --size 64 --kernels 6 --set TSM=big", {"--set TSM=big", "NAME=NUMBER"}},
      {"ladder --size 64 --cache-config most", {"--cache-config", "most"}},
      {"ladder --size 64 --bank-size 5", {"--bank-size", "5"}},
      {"ladder --size 64 --json missing/result.json", {"--json missing/result.json", "no folder"}},
      {"ladder --size 64 --csv .", {"--csv .", "folder"}},
      {"ladder --size 64 --noise 0", {"--noise", "0", "range"}},
      {"explain", {"--kernel", "--diff 6:7"}},
      {"explain --kernel 7 --diff 6:7", {"--kernel", "--diff 6:7"}},
      {"explain --kernel 12", {"no kernel '12'", "11 (registers_only)", "pipelined"}},
      {"explain --kernel scale", {"no kernel 'scale'"}},
      {"explain --kernel 7,TSM", {"TSM", "NAME=NUMBER"}},
      {"explain --kernel 7 --set TSM=7", {"TSM=7", "32, 64"}},
      {"explain --kernel pipelined,TRANS_A=1", {"TRANS_A", "each problem decides it"}},
      {"explain --diff 7", {"--diff 7", "8:8,USE_SHUFFLE=1"}},
      {"explain --diff 6::8", {"no kernel ''"}},
      {"explain --diff 7:6:register_wide", {"register_wide is there twice"}},
      {"report", {"results"}},
      {"report missing.json -o pictures", {"missing.json", "no such file"}},
      {"sweep --over size=8:16", {"--kernel"}},
      {"sweep --kernel 6", {"--over WPTM=2:8:x2"}},
      {"sweep --kernel 6 --over WPTM=2:8 --over TSM=32:64 --over size=8:16", {"one or two of --over"}},
      {"sweep --kernel 12 --over size=8:16:8", {"no kernel '12'"}},
      {"sweep --kernel 6 --over WPTM=8:2", {"--over WPTM=8:2", "a range goes up"}},
      {"sweep --kernel 6 --over WPTM=1:8:x1", {"--over WPTM=1:8:x1", "a factor of at least 2"}},
      {"sweep --kernel 6 --over WPTM", {"--over WPTM", "NAME=FROM:TO"}},
      {"sweep --kernel 6 --over size=0:8", {"--over size=0:8", "sizes are 1 to 16777216"}},
      {"sweep --kernel 6 --over size=1:100000", {"more than 1000 values"}},
      {"sweep --kernel 6 --over size=1:8 --csv missing/s.csv", {"--csv missing/s.csv", "no folder"}},
      {"explain --kernel 7 --arch 1", {"--arch", "1"}},
      {"explain --kernel 7 --arch 90 --device 0", {"--arch", "--device"}},
      {"explain --kernel 7 --json missing/e.json", {"--json missing/e.json", "no folder"}},
      {"compare --size 64 --through gpu", {"--through", "gpu", "device,host,blas"}},
      {"plan -m 64 -n 64", {"-k is missing"}},
      {"plan --size 64 --ops AB", {"--ops", "AB"}},
      {"plan --size 64 --batch 0", {"--batch", "0"}},
      {"plan --size 64 --level always", {"--level", "always"}},
      {"plan --size 64 --force fast", {"no kernel fast"}},
      {"plan --size 64 --force pipelined:TSM=7", {"TSM=7", "8, 16"}},
      {"plan --size 64 --force pipelined:TSM", {"TSM", "kernel:TUNABLE=number"}},
      {"plan --size 64 --force general:slices=2", {"slices=2"}},
      {"plan --size 64 --force pipelined:clustered=2", {"clustered=2", "0 or 1"}},
      {"plan --size 64 --force pipelined:pack_a=7", {"pack_a=7", "0 or 1"}},
      {"plan --size 64 --force general:pack_b=1", {"pack_b=1", "general does not"}},
      {"plan --size 64 --force pipelined:slices=9,clustered=1", {"clustered=1", "up to 8 slices"}},
      {"plan --size 64 --force naive", {"no kernel naive; there are general, pipelined"}},
      {"tune --budget never", {"--budget never", "5m"}},
      {"tune --budget 0", {"--budget 0", "5m"}},
      {"tune --budget 1s --out missing/t.json", {"--out missing/t.json", "no folder"}},
      {"tune --budget 1s --from missing.json", {"missing.json"}},
      {"tune --budget 1s --shapes missing", {"--shapes missing", "squares"}},
      {"tune --budget 1s --ops XX", {"--ops", "XX"}},
      {"tune --budget 1s --threads 0", {"--threads", "0"}},
      {"verify --size 0", {"--size", "range", "16777216"}},
      {"verify --kernels 99", {"no kernel '99'"}},
      {"verify --backend all", {"--backend", "all"}},
      {"compare --shapes missing", {"--shapes missing", "no such file", "batched, convolution, cpu"}},
      {"compare --shapes squares,squares", {"--shapes squares", "already"}},
      {"compare --shapes squares --size 8", {"either --shapes or sizes"}},
      {"compare --ops TN", {"--ops", "--size"}},
      {"compare -m 8 -n 8", {"-k is missing"}},
      {"compare --size 8 --ops XY", {"--ops", "XY", "NN,NT,TN,TT"}},
      {"compare --size 8 --batch 0", {"--batch", "0", "range"}},
      {"compare --size 8 --level bitwise", {"--level", "bitwise", "run_to_run,everywhere"}},
      {"compare --size 8 --noise 0", {"--noise", "0", "range"}},
      {"compare --size 8 --seconds -1", {"--seconds", "-1", "range"}},
      {"compare --size 8 --against MKL", {"--against", "MKL", "cuBLAS,cublasLt,OpenBLAS,CLBlast"}},
      {"compare --size 8 --backend vulkan", {"--backend", "vulkan", "all"}},
      {"compare --size 8 --json missing/result.json", {"--json missing/result.json", "no folder"}},
      {"verify --kernels general", {"no kernel 'general' in the ladder"}},
      {"verify --gemm --kernels naive",
       {"no kernel 'naive' in the library", "general", "pipelined", "scale"}},
      {"verify --gemm --set TRANS_A=1", {"TRANS_A", "each problem decides it"}},
      {"verify --gemm --kernels skinny_dots --set SKINNY=1", {"SKINNY", "each problem decides it"}},
      {"verify --gemm --set TSM=20", {"TSM=20", "16, 24, 32, 40, 48, 64, 80, 96, 128"}},
      {"verify --gemm --smallest-tiles --set TSK=9", {"TSK=9", "8, 16, 32"}},
      {"verify --smallest-tiles", {"--smallest-tiles", "--gemm"}},
      {"warm --jobs 0", {"--jobs", "0", "range"}},
      {"warm --backend vulkan", {"--backend", "vulkan", "all"}},
  };
  for (const BadInput& bad : inputs) {
    expect_refused(run(bad.arguments), bad);
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Program, RefusesAListOfShapesByLine) {
  std::ofstream(folder_ / "mine.txt") << "good 8 8 8\nbad 8 8 8 TX\n";
  const BadInput bad{"compare --shapes mine.txt", {"mine.txt:2: 'TX'", "NN, NT, TN and TT"}};
  expect_refused(run(bad.arguments), bad);
}

// Where a runtime has no device, or the build no such runtime, the refusal says that instead.
TEST_F(Program, NamesTheRuntimesOrDevicesThereAre) {
#ifndef DUOGEMM_WITH_CUDA
  expect_refused(run("ladder --backend cuda"),
                 {"ladder --backend cuda", {"--backend cuda", "this build has opencl"}});
#endif
#ifndef DUOGEMM_WITH_OPENCL
  expect_refused(run("ladder --backend opencl"),
                 {"ladder --backend opencl", {"--backend opencl", "this build has cuda"}});
#endif
#ifdef DUOGEMM_WITH_CUDA
  if (run("devices").out.find("cuda: no device was found") != std::string::npos) {
    expect_refused(run("ladder --backend cuda"),
                   {"ladder --backend cuda", {"--backend cuda", "no cuda device"}});
  }
#endif
}

TEST_F(Program, LeavesAnExistingResultAloneWhenItRefuses) {
  std::ofstream(folder_ / "result.json") << "precious";
  run("ladder --size 0 --json result.json");
  run("ladder --size 64 --kernels 77 --json result.json");
  EXPECT_EQ(read_file(folder_ / "result.json"), "precious");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Program, HelpsAndTellsItsVersion) {
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_NE(run("ladder --help").out.find("--kernels"), std::string::npos);
  EXPECT_NE(run("--version").out.find("duogemm "), std::string::npos);
}

TEST_F(Program, ListsDevicesOfEveryRuntimeInTheBuild) {
  const Outcome outcome = run("devices");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
#ifdef DUOGEMM_WITH_CUDA
  EXPECT_NE(outcome.out.find("cuda:"), std::string::npos);
#endif
#ifdef DUOGEMM_WITH_OPENCL
  EXPECT_NE(outcome.out.find("opencl:"), std::string::npos);
#endif
}

class ProgramOnADevice : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (run("verify --kernels 1 --size 1").status != 0) {
      GTEST_SKIP() << "no device was found";
    }
  }
  void TearDown() override {
    unsetenv("DUOGEMM_KERNEL_DIR");
    Program::TearDown();
  }

  // From now on the program reads its kernels from a copy in which `from` is `to`.
  void use_kernels_with(const std::string& file, const std::string& from, const std::string& to) const {
    for (const char* part : {"kernels", "compat"}) {
      std::filesystem::copy(std::filesystem::path(DUOGEMM_SOURCE) / part, folder_ / part,
                            std::filesystem::copy_options::recursive);
    }
    std::string text = read_file(folder_ / file);
    text.replace(text.find(from), from.size(), to);
    std::ofstream(folder_ / file) << text;
    setenv("DUOGEMM_KERNEL_DIR", folder_.c_str(), 1);
  }
};

TEST_F(ProgramOnADevice, RefusesWhatTheDeviceOrTheLadderCannotDo) {
  std::vector<BadInput> inputs = {
      {"ladder --device 99 --size 64", {"--device 99", "0 to"}},
      {"ladder --size 16000000", {"16000000 x 16000000", "2147483647"}},
      {"ladder -m 10000000 -n 300 -k 1 --kernels 1", {"10000000 x 300", "2147483647"}},
  };
#ifdef DUOGEMM_WITH_OPENCL
  inputs.push_back({"ladder --backend opencl --size 64 --cache-config l1", {"cache preference", "cuda"}});
  inputs.push_back({"compare --backend opencl --size 64 --graph", {"--graph", "only cuda"}});
  inputs.push_back({"compare --backend opencl --size 64 --through host --cold",
                    {"--through host", "--cold", "--through device"}});
  inputs.push_back({"compare --backend opencl --size 64 --through blas --level everywhere",
                    {"--through blas", "--level", "run_to_run"}});
  inputs.push_back({"compare --backend opencl --size 64 --against cuBLAS", {"--against cuBLAS", "no such"}});
#endif
  for (const BadInput& bad : inputs) {
    expect_refused(run(bad.arguments), bad);
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(ProgramOnADevice, RefusesAWorkGroupThatTheUserMadeTooLarge) {
  const BadInput bad{"ladder --size 64 --kernels 1 --set TS=128",
                     {"TS=128", "kernel naive", "work-group of 16384 work-items", "the device allows"}};
  expect_refused(run(bad.arguments), bad);
}

// Bytes of the largest device that the program lists. PoCL takes no more than POCL_MEMORY_LIMIT says.
double device_memory(const std::string& listed) {
  std::smatch found;
  std::string rows = listed;
  double most = 0.0;
  for (; std::regex_search(rows, found, std::regex("  ([0-9.]+) GiB")); rows = found.suffix()) {
    most = std::max(most, std::stod(found[1]));
  }
  return most * 0x1p30;
}

// A, B and C fit into the device, and so does no more than that: a second set of them, copies that are padded
// or transposed, and what the host has besides are counted too.
TEST_F(ProgramOnADevice, RefusesWhatThereIsNoMemoryForHoweverManyCopiesItTakes) {
  setenv("POCL_MEMORY_LIMIT", "1", 1);
  const double memory = device_memory(run("devices").out);
  const long size = std::lround(std::sqrt(memory / (3.5 * sizeof(float)))) | 1;  // of no tile a multiple
  const std::string shape = "m=" + std::to_string(size) + " n=" + std::to_string(size);
  const std::string given = " --size " + std::to_string(size);
  std::vector<BadInput> inputs = {
      {"latency" + given, {shape, "needs", "GB", "memory"}},
      {"verify --gemm --kernels general" + given, {shape, "needs", "GB", "memory"}},
  };
  constexpr long most_of_ladder = 46000;  // its indices have 32 bits
  if (size <= most_of_ladder) {
    inputs.push_back({"ladder --kernels 1" + given, {shape, "needs", "GB", "memory"}});
    inputs.push_back({"verify --kernels 2" + given, {shape, "needs", "GB", "memory"}});
    inputs.push_back({"explain --kernel 1" + given, {shape, "needs", "GB", "memory"}});
    inputs.push_back(
        {"sweep --kernel 1 --over size=" + std::to_string(size), {"no point", shape, "GB", "memory"}});
  }
  const std::string larger = std::to_string(2 * size);
  inputs.push_back({"compare --against none --size " + larger, {"m" + larger, "needs", "GB", "memory"}});
  for (const BadInput& bad : inputs) {
    expect_refused(run(bad.arguments), bad);
  }
  unsetenv("POCL_MEMORY_LIMIT");
}

// PoCL keeps what it compiles in a folder of its own.
class ProgramThatWarms : public ProgramOnADevice {
 protected:
  void SetUp() override {
    ProgramOnADevice::SetUp();
    setenv("DUOGEMM_CACHE_DIR", (folder_ / "programs").c_str(), 1);
    setenv("POCL_CACHE_DIR", (folder_ / "pocl").c_str(), 1);
  }
  void TearDown() override {
    setenv("DUOGEMM_CACHE_DIR", "", 1);
    unsetenv("POCL_CACHE_DIR");
    ProgramOnADevice::TearDown();
  }

  std::size_t kernels_kept_by_pocl() const {
    const std::filesystem::path folder = folder_ / "pocl";
    std::error_code nothing_there;
    const std::filesystem::recursive_directory_iterator files(folder, nothing_there);
    return static_cast<std::size_t>(std::count_if(
        begin(files), end(files), [](const auto& entry) { return entry.path().extension() == ".so"; }));
  }
};

TEST_F(ProgramThatWarms, CompilesAndThenFindsThePrograms) {
  const Outcome first = run("warm");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(matches(first.out,
                      "through [a-z]+: [1-9][0-9]* programs, [0-9]+ compiled, [0-9]+ there already, "
                      "[0-9.]+ s\n$"))
      << first.out;
  const Outcome second = run("warm --jobs 3");
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_TRUE(matches(second.out, " programs, 0 compiled, [1-9][0-9]* there already,")) << second.out;
  const Outcome worker = run("warm --share 2/5");
  EXPECT_EQ(worker.status, 0) << worker.err;
  EXPECT_TRUE(matches(worker.out, "^[1-9][0-9]* 0\\n$")) << worker.out;

  // A common multiplication then needs no compiler; in PoCL's cache that shows.
  const std::size_t kept = kernels_kept_by_pocl();
  EXPECT_EQ(run("compare --size 200 --ops TN --against none --seconds 0.001").status, 0);
  EXPECT_EQ(kernels_kept_by_pocl(), kept);

  use_kernels_with("kernels/gemm/scale.cl", "{", "{ this is no C;");
  const Outcome failed = run("warm --jobs 2");
  EXPECT_EQ(failed.status, 1) << failed.out;
  EXPECT_EQ(failed.out, "");
  EXPECT_TRUE(matches(failed.err, "(^|\n)duogemm: scale GROUP=")) << failed.err;
}

TEST_F(ProgramThatWarms, NeedsAPlaceForPrograms) {
  if (run("devices").out.find("PoCL") != std::string::npos) {
    GTEST_SKIP() << "PoCL has a place of its own";
  }
  setenv("DUOGEMM_CACHE_DIR", "", 1);
  expect_refused(run("warm"), {"warm", {"DUOGEMM_CACHE_DIR"}});
  std::ofstream(folder_ / "programs") << "a file";
  setenv("DUOGEMM_CACHE_DIR", (folder_ / "programs").c_str(), 1);
  expect_refused(run("warm"), {"warm", {"programs", "folder"}});
}

TEST_F(ProgramOnADevice, WritesWhatItPrints) {
  const Outcome outcome =
      run("ladder -m 65 -n 33 -k 17 --kernels 1,4,nv --tutorial --json r.json --csv r.csv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");  // no progress line: this is no terminal
  EXPECT_NE(outcome.out.find("K40m"), std::string::npos);
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"));
  EXPECT_EQ(json["schema"], "duogemm.ladder/1");
  ASSERT_EQ(json["runs"].size(), 1u);
  const auto& run = json["runs"][0];
  EXPECT_EQ(run["m"], 65);
  ASSERT_EQ(run["rows"].size(), 4u);  // rung 4 has two settings
  for (const auto& row : run["rows"]) {
    EXPECT_TRUE(row["ok"]);
    EXPECT_GE(row["time"]["seconds"].size(), 5u);
    EXPECT_LE(row["error_per_bound"], 1.0);
  }
  const std::string csv = read_file(folder_ / "r.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_EQ(files().size(), 2u);
}

// What is not possible says so at its place, and the rest is measured.
TEST_F(ProgramOnADevice, SweepsOverTunablesAndSizes) {
  const Outcome outcome =
      run("sweep --kernel 6 --over WPTM=2:4 --over size=32:64:x2 --seconds 0.01 --json s.json --csv s.csv");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("- not possible: WPTM=3: kernel register_2d allows 1, 2, 4, 8"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("Fastest: WPTM="), std::string::npos);
  const auto json = nlohmann::json::parse(read_file(folder_ / "s.json"));
  EXPECT_EQ(json["schema"], "duogemm.sweep/1");
  ASSERT_EQ(json["points"].size(), 6u);
  EXPECT_EQ(json["points"][1]["at"], nlohmann::json({2, 64}));
  EXPECT_EQ(json["points"][1]["m"], 64);
  EXPECT_TRUE(json["points"][1]["row"]["ok"]);
  EXPECT_EQ(json["points"][1]["row"]["tunables"]["WPTM"], 2);
  EXPECT_TRUE(json["points"][2].contains("invalid"));
  const std::string csv = read_file(folder_ / "s.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
}

TEST_F(ProgramOnADevice, RefusesSweepsThatMakeNoSense) {
  for (const BadInput& bad : std::vector<BadInput>{
           {"sweep --kernel 6 --over TSX=1:2", {"--over TSX", "no such tunable"}},
           {"sweep --kernel 6 --over WPTM=1:2 --set WPTM=4", {"--over WPTM", "--set"}},
           {"sweep --kernel 6 --over size=8:9 --over m=8:9", {"--over size and --over m"}},
           {"sweep --kernel 6 --over WPTM=3,5", {"no point is possible", "WPTM=3"}},
       }) {
    expect_refused(run(bad.arguments), bad);
  }
}

// On any device: what was measured; and where instructions can be had, what they are.
TEST_F(ProgramOnADevice, ExplainsTwoKernelsAndDumpsThem) {
  const Outcome outcome =
      run("explain --diff 1:11,WGM=4 --size 64 --seconds 0.01 --json e.json --dump texts");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("registers_only WGM=4 is "), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(read_file(folder_ / "e.json"));
  EXPECT_EQ(json["schema"], "duogemm.explain/1");
  ASSERT_EQ(json["kernels"].size(), 2u);
  for (const auto& kernel : json["kernels"]) {
    EXPECT_GT(kernel["gflops"], 0.0);
    EXPECT_GT(kernel["resources"]["local_size"][0], 0);
    if (kernel["missing"] != "" && kernel["language"] == "") {
      continue;  // such as: objdump is not installed
    }
    EXPECT_GT(kernel["loop"]["multiply_adds"], 0.0) << kernel["language"];
    EXPECT_GT(kernel["bounds"].size(), 2u);
  }
  const std::string source =
      read_file(folder_ / "texts" / (json["kernels"][0]["backend"].get<std::string>() + "_naive.cl"));
  EXPECT_NE(source.find("naive("), std::string::npos);
}

TEST_F(ProgramOnADevice, ExplainsTheLibrarysKernels) {
  const Outcome outcome = run("explain --kernel general --size 64 --seconds 0.01");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("general reaches "), std::string::npos) << outcome.out;
}

#ifdef DUOGEMM_WITH_CUDA
TEST_F(Program, ExplainsForADeviceThatIsNotThere) {
  const Outcome outcome = run("explain --diff 6:7 --arch 90 --json e.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(read_file(folder_ / "e.json"));
  for (const auto& kernel : json["kernels"]) {
    EXPECT_EQ(kernel["loop"]["multiply_adds"], 1024.0);
    EXPECT_EQ(kernel["resources"]["resident_groups"], 2);
    EXPECT_EQ(kernel["resources"]["limited_by"], "registers");
    EXPECT_TRUE(kernel["gflops"].is_null());
  }
}
#else
TEST_F(Program, ExplainsForADeviceThatIsNotThereThroughCudaOnly) {
  const BadInput bad{"explain --kernel 7 --arch 90", {"--arch", "no CUDA"}};
  expect_refused(run(bad.arguments), bad);
}
#endif

TEST_F(ProgramOnADevice, ComparesAndWritesWhatItPrints) {
  std::ofstream(folder_ / "one.txt") << "cube 8 8 8\ntransposed 9 7 5 TT batch=3\n";
  std::ofstream(folder_ / "two.txt") << "huge 16777216 16777216 16777216\nsmall 3 2 1 NN beta=1\n";
  const Outcome outcome =
      run("compare --shapes one.txt two.txt --level everywhere --seconds 0.001 --json r.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("skipped: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("transposed"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"));
  EXPECT_EQ(json["schema"], "duogemm.compare/1");
  EXPECT_EQ(json["level"], "everywhere");
  EXPECT_EQ(json["seconds"], 0.001);
  ASSERT_EQ(json["runs"].size(), 1u);
  const auto& rows = json["runs"][0]["rows"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1]["list"], "one");
  EXPECT_EQ(rows[1]["ops"], "TT");
  EXPECT_EQ(rows[1]["batch"], 3);
  EXPECT_TRUE(rows[2].contains("skipped"));
  for (const auto* row : {&rows[0], &rows[1], &rows[3]}) {
    EXPECT_TRUE((*row)["ok"]);
    EXPECT_TRUE((*row)["same_bits_again"]);
    EXPECT_FALSE((*row)["plan"].get<std::string>().empty());
    EXPECT_GE((*row)["time"]["seconds"].size(), 1u);
    EXPECT_EQ((*row)["others"].size(), json["runs"][0]["others"].size());
  }
  EXPECT_EQ(json["runs"][0]["summary"].size(), 3 * json["runs"][0]["others"].size());
}

TEST_F(ProgramOnADevice, ComparesOneShapeWithNobody) {
  const Outcome outcome = run("compare -m 8 -n 9 -k 10 --ops NT --batch 2 --against none --seconds 0.001");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("beside nobody"), std::string::npos);
  EXPECT_NE(outcome.out.find("m8_n9_k10_NT"), std::string::npos);
}

TEST_F(ProgramOnADevice, TimesTheFirstAndLaterCalls) {
  const Outcome outcome = run("latency --size 8");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("first, nothing cached on disk"), std::string::npos);
  EXPECT_NE(outcome.out.find("warm, until C is there"), std::string::npos);
}

TEST_F(ProgramOnADevice, TellsItsPlan) {
  const Outcome outcome =
      run("plan -m 100 -n 30 -k 4000 --ops TN --batch 3 --force pipelined:TSM=32,slices=4 --top 2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part :
       {"TSM=32", "in 4 slices of k", "workspace  144000 bytes", "reduce", "TRANS_A=1", "rank"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << outcome.out;
  }
  const BadInput whole{"plan --size 100 --level everywhere --force pipelined:slices=4",
                       {"slices=4", "run_to_run"}};
  expect_refused(run(whole.arguments), whole);
}

TEST_F(ProgramOnADevice, TunesForAShapeAndPlansByWhatItFound) {
  setenv("DUOGEMM_TUNING_DIR", folder_.c_str(), 1);
  std::ofstream(folder_ / "list.txt") << "mine 40 24 56\n";
  const Outcome tuned = run("tune --budget 15s --ops NN --shapes list.txt --out found.json");
  const Outcome again = run("tune --budget 5s --ops TT --out found.json");
  const std::string json = read_file(folder_ / "found.json");
  const Outcome plan = run("plan -m 40 -n 24 -k 56 --top 3");
  std::ofstream(folder_ / "found.json") << "{}";
  const Outcome refused = run("tune --budget 1s --out found.json");
  unsetenv("DUOGEMM_TUNING_DIR");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("NN wide"), std::string::npos) << tuned.out;
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NE(json.find("\"TRANS_A\":0"), std::string::npos) << json;  // what the first run found
  EXPECT_NE(json.find("\"m\":40"), std::string::npos) << json;
  ASSERT_EQ(plan.status, 0) << plan.err;
  EXPECT_NE(plan.out.find("found.json"), std::string::npos) << plan.out;
  EXPECT_EQ(plan.out.find("predicted  - us"), std::string::npos) << plan.out;
  expect_refused(refused, {"tune --budget 1s --out found.json", {"found.json", "schema"}});
}

TEST_F(ProgramOnADevice, AppliesTunablesAndSwitches) {
  const Outcome outcome = run("verify --size 40 --kernels 6,8 --set TSM=64,TSN=32,WPTM=4,WPTN=4 --no-ldg");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("TSM=64 TSN=32 WPTM=4 WPTN=4"), std::string::npos);
  EXPECT_NE(outcome.out.find("USE_LDG=0"), std::string::npos);
}

// Tiles of the kernel `general` that PoCL compiles in the shortest time.
const std::string small_tiles = "TSM=16,TSN=16,TSK=8,WPTM=2,WPTN=1";

TEST_F(ProgramOnADevice, VerifiesTheLibrarysKernels) {
  const Outcome outcome = run("verify --gemm --kernels general,scale --size 19 --set " + small_tiles);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  // Twelve problems to multiply and nine with nothing to multiply.
  EXPECT_TRUE(matches(outcome.out, "general +TSK=8 TSM=16 .* +general +12 +0[.][0-9]+ +ok")) << outcome.out;
  EXPECT_TRUE(matches(outcome.out, "scale +scale +9 +0[.]00 +ok")) << outcome.out;
}

// Direct and transposed tiles of equal sizes, and with a side that is three times a power of two. Twelve
// problems, eight of them again in slices of k, and once more in clusters where the device has them.
TEST_F(ProgramOnADevice, VerifiesThePipelinedKernel) {
  for (const char* tiles : {"TSM=32,TSN=32,TSK=8,WPTM=4,WPTN=4,LANES_M=8,STAGES=3",
                            "TSM=48,TSN=32,TSK=8,WPTM=4,WPTN=4,LANES_M=4,STAGES=2"}) {
    const Outcome outcome = run(std::string("verify --gemm --kernels pipelined --size 35 --set ") + tiles);
    EXPECT_EQ(outcome.status, 0) << tiles << "\n" << outcome.out << outcome.err;
    EXPECT_TRUE(matches(outcome.out, "pipelined +.* +pack pipelined reduce +(20|28) +0[.][0-9]+ +ok"))
        << outcome.out;
  }
}

TEST_F(ProgramOnADevice, VerifiesAsASimulatorWantsIt) {
  const Outcome outcome =
      run("verify --gemm --kernels general,scale --size 19 --smallest-tiles --no-guards --set WPTM=2,WPTN=1");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(matches(outcome.out, "general +TSK=8 TSM=16 TSN=16 WPTM=2 WPTN=1 .*ok")) << outcome.out;
  EXPECT_TRUE(matches(outcome.out, "scale +GROUP=64 .*ok")) << outcome.out;
  const Outcome one = run("verify --gemm --kernels scale --size 1");
  EXPECT_EQ(one.status, 0) << one.out << one.err;
  EXPECT_FALSE(matches(one.out, "general")) << one.out;
}

// A mistake in a kernel's file, and what the program is to say of it.
struct Mistake {
  std::string file;
  std::string right;
  std::string wrong;
  std::string arguments;
  std::string verdict;
};

class ProgramOnBrokenKernels : public ProgramOnADevice {
 protected:
  Outcome run_with(const Mistake& mistake, const std::string& arguments) const {
    for (const char* part : {"kernels", "compat"}) {
      std::filesystem::copy(
          std::filesystem::path(DUOGEMM_SOURCE) / part, folder_ / part,
          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    }
    const std::filesystem::path file = folder_ / "kernels" / mistake.file;
    std::string text = read_file(file);
    text.replace(text.find(mistake.right), mistake.right.size(), mistake.wrong);
    std::ofstream(file) << text;
    setenv("DUOGEMM_KERNEL_DIR", folder_.c_str(), 1);
    const Outcome outcome = run(arguments);
    unsetenv("DUOGEMM_KERNEL_DIR");
    return outcome;
  }
};

TEST_F(ProgramOnBrokenKernels, SaysWhatIsWrong) {
  const std::string verify_general = "verify --gemm --kernels general --size 19 --set " + small_tiles;
  const std::string verify_scale = "verify --gemm --kernels scale --size 19";
  const Mistake mistakes[] = {
      {"ladder/01_naive.cl", "acc = 0.0f", "acc = 1.0f", "verify --kernels 1,2 --size 16",
       "1 +naive.*WRONG: M=16 N=16 K=16"},
      {"ladder/01_naive.cl", "acc = 0.0f", "acc = 1.0f", "ladder --kernels 1 --size 16", "WRONG"},
      {"gemm/general.cl", "B_NEXT_K (TRANS_B ? (OFFSET)p.ldb", "B_NEXT_K (TRANS_B ? (OFFSET)p.lda",
       verify_general, "general.*WRONG: M=19 N=19 K=19 .*, B transposed"},
      {"gemm/general.cl", "tidm + wm * RTSM < rows", "tidm + wm * RTSM <= rows", verify_general,
       "general.*WRONG: .*C\\[19\\] was overwritten"},
      {"gemm/batch.h", "(member) * (stride)", "(member) * (member) * (stride)", verify_scale,
       "scale.*WRONG: .*a batch by strides: member 2"},
      {"gemm/batch.h", "(table)[member] >>", "((table)[member] + (member == 1)) >>", verify_scale,
       "scale.*WRONG: .*a batch by offsets: member 1"},
      {"gemm/scale.cl", "p.beta == 0.0f ? 0.0f :", "", verify_scale, "scale.*WRONG: .*nan"},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = run_with(mistake, mistake.arguments);
    EXPECT_EQ(outcome.status, 1) << mistake.wrong;
    EXPECT_TRUE(matches(outcome.out, mistake.verdict)) << mistake.wrong << "\n" << outcome.out << outcome.err;
  }
}

TEST_F(ProgramOnADevice, DoesNotTimeWhatIsWrong) {
  use_kernels_with("kernels/update.h", "(alpha) * (acc);", "(alpha) * 2.0f;");
  const Outcome outcome = run("compare --size 16 --against none --seconds 0.001 --json r.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("WRONG: C(0, 0) is "), std::string::npos) << outcome.out;
  const auto row = nlohmann::json::parse(read_file(folder_ / "r.json"))["runs"][0]["rows"][0];
  EXPECT_FALSE(row["ok"]);
  EXPECT_TRUE(row["time"].is_null());
}

}  // namespace
}  // namespace duogemm::testing
