// The program refuses a request that it cannot serve.
#include <cmath>
#include <regex>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

// NOLINTNEXTLINE(readability-function-size): a table
TEST_F(Program, RefusesBadInputInOneLine) {
  const std::vector<BadInput> inputs = {
      {"",
       {"no command", "compare, completion, devices, diff, explain, ladder, latency, man, ",
        "plan, replay, report, run, sweep, tune, verify, warm"}},
      {"climb",
       {"no command 'climb'", "compare, completion, devices, diff, explain, ladder, latency, man, ",
        "plan, replay, report, run, sweep, tune, verify, warm"}},
      {"ladder --sise 64", {"ladder has no option --sise; did you mean --size?"}},
      {"ladder 64", {"ladder takes no '64'"}},
      {"sweep --kernal 6", {"sweep has no option --kernal; did you mean --kernel?"}},
      {"--versoin", {"no option --versoin; did you mean --version?"}},
      {"compar", {"no command 'compar'; did you mean compare?"}},
      {"ladder --kernel pakced", {"did you mean packed?", "1 (naive)"}},
      {"ladder --kernels 6 --set WTPM=4", {"did you mean WPTM?"}},
      {"ladder --kernels 18 --size 64", {"no kernel '18'", "1 (naive)", "11 (registers_only)"}},
      {"ladder --device -1 --size 64", {"--device", "-1"}},
      {"ladder --backend vulkan --size 64", {"--backend", "vulkan", "opencl"}},
      {"ladder --size 0", {"--size", "0", "range", "16777216"}},
      {"ladder -m 64 -n 64", {"-k is missing"}},
      {"ladder --size 64 --kernels 6 --set WPTM=3", {"WPTM=3", "1, 2, 4, 8"}},
      {"ladder --size 64 --kernels 10 --set WPTM=10", {"TSM to be a multiple of WPTM"}},
      {"ladder --size 64 --kernels 6 --set TSX=3", {"TSX", "none of the chosen kernels", "TSK, TSM, TSN"}},
      {"ladder --size 64 --kernels 6 --set TSM", {"--set TSM", "NAME=NUMBER"}},
      {"ladder --size 64 --cache-config most", {"--cache-config", "most"}},
      {"ladder --size 64 --bank-size 5", {"--bank-size", "5"}},
      {"ladder --size 64 --json missing/result.json", {"--json missing/result.json", "no folder"}},
      {"ladder --size 64 --json .", {"--json .", "folder"}},
      {"ladder --size 64 --noise 0", {"--noise", "0", "range 0.001 to 100"}},
      {"ladder --size 64 --noise abc", {"--noise", "'abc' is no number", "range is 0.001 to 100"}},
      {"ladder --device abc", {"--device 'abc'", "runtime of this build"}},
      {"explain", {"--kernel", "--diff 6:7"}},
      {"explain --kernel 18", {"no kernel '18'", "11 (registers_only)", "pipelined"}},
      {"explain --kernel finish", {"no kernel 'finish'"}},
      {"explain --kernel pipelined,TRANS_A=1", {"TRANS_A", "each problem decides it"}},
      {"explain --diff 7", {"--diff 7", "8:8,USE_SHUFFLE=1"}},
      {"explain --diff 6::8", {"no kernel ''"}},
      {"explain --diff 7:6:register_wide", {"register_wide is there twice"}},
      {"report", {"results"}},
      {"report result.json", {"--output", "required"}},
      {"report missing.json -o pictures", {"missing.json", "no such file"}},
      {"run --", {"program", "required"}},
      {"run env -i", {"-i"}},
      {"sweep --over size=8:16", {"--kernel"}},
      {"sweep --kernel 6 --over WPTM=2:8 --over TSM=32:64 --over size=8:16", {"one or two of --over"}},
      {"sweep --kernel 6 --over WPTM=8:2", {"--over WPTM=8:2", "a range goes up"}},
      {"sweep --kernel 6 --over WPTM=1:8:x1", {"--over WPTM=1:8:x1", "a factor of at least 2"}},
      {"sweep --kernel 6 --over WPTM", {"--over WPTM", "NAME=FROM:TO"}},
      {"sweep --kernel 6 --over size=0:8", {"--over size=0:8", "sizes are 1 to 16777216"}},
      {"sweep --kernel 6 --over size=1:100000", {"more than 1000 values"}},
      {"sweep --kernel 6 --over size=1:8 --plot s.bmp", {"--plot s.bmp", ".svg or .png"}},
      {"explain --kernel 7 --arch 1", {"--arch", "1"}},
      {"explain --kernel 7 --arch 90 --device 0", {"--arch", "--device"}},
      {"completion tcsh", {"shell", "tcsh", "bash,zsh,fish"}},
      {"compare --size 64 --through gpu", {"--through", "gpu", "device,host,blas"}},
      {"plan --size 64 --ops AB", {"--ops", "AB"}},
      {"plan --size 64 --force fast", {"no kernel fast"}},
      {"plan --size 64 --force pipelined:TSM=7", {"TSM=7", "8, 16"}},
      {"plan --size 64 --force pipelined:TSM", {"TSM", "kernel:TUNABLE=number"}},
      {"plan --size 64 --force general:slices=2", {"slices=2"}},
      {"plan --size 64 --force pipelined:clustered=2", {"clustered=2", "0 or 1"}},
      {"plan --size 64 --force pipelined:slices=9,clustered=1", {"clustered=1", "up to 8 slices"}},
      {"tune --budget never", {"--budget never", "5m"}},
      {"tune --budget 1s --out missing/t.json", {"--out missing/t.json", "no folder"}},
      {"tune --budget 1s --from missing.json", {"missing.json"}},
      {"tune --budget 1s --shapes missing", {"--shapes missing", "squares"}},
      {"tune --budget 1s --shapes squares --precision f16x3", {"--shapes", "fp32"}},
      {"verify --kernels 99", {"no kernel '99'"}},
      {"verify --backend all", {"--backend", "all"}},
      {"compare --shapes missing", {"--shapes missing", "no such file", "batched, convolution, cpu"}},
      {"compare --shapes squares,squares", {"--shapes squares", "already"}},
      {"compare --shapes squares --size 8", {"either --shapes or sizes"}},
      {"compare --ops TN", {"--ops", "--size"}},
      {"compare --size 8 --level bitwise", {"--level", "bitwise", "run_to_run,everywhere"}},
      {"compare --size 8 --against Eigen",
       {"--against", "Eigen", "cuBLAS,cublasLt,CLBlast", "OpenBLAS,MKL,BLIS,oneDNN,none"}},
      {"verify --kernels general", {"no kernel 'general' in the ladder"}},
      {"verify --gemm --kernels naive",
       {"no kernel 'naive' in the library", "general", "pipelined", "finish"}},
      {"verify --gemm --set TRANS_A=1", {"TRANS_A", "each problem decides it"}},
      {"verify --gemm --smallest-tiles --set TSK=9", {"TSK=9", "8, 16, 32"}},
      {"verify --smallest-tiles", {"--smallest-tiles", "--gemm"}},
      {"warm --jobs 0", {"--jobs", "0", "range"}},
      {"accuracy --precision tf32", {"--precision", "tf32", "bf16x6"}},
  };
  expect_all_refused(inputs);
  EXPECT_TRUE(files().empty());
}

TEST_F(Program, RefusesAListOfShapesByLine) {
  write("mine.txt", "good 8 8 8\nbad 8 8 8 TX\n");
  expect_all_refused({{"compare --shapes mine.txt", {"mine.txt:2: 'TX'", "NN, NT, TN and TT"}}});
}

// The refusal says instead that a runtime has no device, or the build no such runtime.
TEST_F(Program, NamesTheRuntimesOrDevicesThereAre) {
#ifndef DUOGEMM_WITH_CUDA
  expect_refused(run("ladder --backend cuda"), {"--backend cuda", "this build has opencl"});
#endif
#ifndef DUOGEMM_WITH_OPENCL
  expect_refused(run("ladder --backend opencl"), {"--backend opencl", "this build has cuda"});
#endif
#ifdef DUOGEMM_WITH_CUDA
  if (run("devices").out.find("cuda: no device was found") != std::string::npos) {
    expect_refused(run("ladder --backend cuda"), {"--backend cuda", "no cuda device"});
  }
#endif
}

TEST_F(Program, LeavesAnExistingResultAloneWhenItRefuses) {
  write("result.json", "precious");
  run("ladder --size 0 --json result.json");
  run("ladder --size 64 --kernels 77 --json result.json");
  EXPECT_EQ(read("result.json"), "precious");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(ProgramOnADevice, RefusesWhatTheDeviceOrTheLadderCannotDo) {
  std::vector<BadInput> inputs = {
      {"ladder --device 99 --size 64", {"--device 99", "0 to"}},
      {"ladder --size 16000000", {"16000000 x 16000000", "2147483647"}},
      {"ladder -m 10000000 -n 300 -k 1 --kernels 1", {"10000000 x 300", "2147483647"}},
      {"ladder --size 64 --kernels 1 --set TS=128",
       {"TS=128", "kernel naive", "work-group of 16384 work-items", "the device allows"}},
      {"compare --size 33 --precision f16x3 --level everywhere",
       {"precision is f16x3", "fp32", "everywhere"}},
      {"plan --size 40 --precision bf16x6 --level everywhere", {"precision is bf16x6", "fp32"}},
  };
#ifdef DUOGEMM_WITH_OPENCL
  inputs.push_back({"ladder --backend opencl --size 64 --cache-config l1", {"cache preference", "cuda"}});
  const std::string compare = "compare --backend opencl --size 64 ";
  inputs.insert(inputs.end(),
                {{compare + "--graph", {"--graph", "only cuda"}},
                 {compare + "--through host --cold", {"--through host", "--cold", "--through device"}},
                 {compare + "--through blas --level everywhere", {"--through blas", "--level", "run_to_run"}},
                 {compare + "--device-memory 4G", {"--device-memory", "--through host or blas"}},
                 {compare + "--callers 8", {"--callers", "--through host or blas"}},
                 {compare + "--through host --device-memory 4Q", {"--device-memory '4Q'", "such as 512M"}},
                 {compare + "--against cuBLAS", {"--against cuBLAS: "}}});
#endif
  expect_all_refused(inputs);
  EXPECT_TRUE(files().empty());
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
  expect_all_refused(inputs);
  unsetenv("POCL_MEMORY_LIMIT");
}

}  // namespace
}  // namespace duogemm::testing
