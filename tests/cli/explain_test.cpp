// `duogemm explain`.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

// On any device: what was measured; and where instructions can be had, what they are.
TEST_F(ProgramOnADevice, ExplainsTwoKernelsAndDumpsThem) {
  const Outcome outcome =
      run_well("explain --diff 1:11,WGM=4 --size 64 --seconds 0.01 --json e.json --dump texts");
  EXPECT_EQ(outcome.err, "");
  expect_match(outcome.out, "registers_only WGM=4 is ");
  const auto json = json_in("e.json");
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
  expect_match(read("texts/" + json["kernels"][0]["backend"].get<std::string>() + "_naive.cl"), "naive\\(");
}

TEST_F(ProgramOnADevice, ExplainsTheLibrarysKernelsInEachPrecision) {
  expect_match(run_well("explain --kernel general --size 64 --seconds 0.01").out, "general reaches ");
  const auto json = result_of("explain --precision f16x3 --size 64 --seconds 0.01");
  EXPECT_EQ(json["kernels"][0]["precision"], "f16x3");
  expect_all_refused({{"explain --kernel tensor --size 64", {"tensor", "--precision f16x3"}},
                      {"explain --precision f16x3 --set TSM=128", {"--set", "--kernel"}}});
}

#ifdef DUOGEMM_WITH_CUDA
TEST_F(Program, ExplainsTensorCores) {
  expect_match(
      run_well("explain --kernel tensor --precision f16x3 --set TSM=256,TSK=64 --arch 90 --json e.json").out,
      "promotion, percent of the products' clocks");
  const auto kernel = json_in("e.json")["kernels"][0];
  // Three products of 128 x 256 x 64 by 256 work-items, and two additions for each of their 128 sums.
  EXPECT_EQ(kernel["loop"]["multiply_adds"], 3.0 * 128 * 256 * 64 / 256);
  EXPECT_EQ(kernel["loop"]["kinds"]["addition"]["instructions"], 256.0);
  EXPECT_EQ(kernel["tensor_cores"]["products"], 3);
  EXPECT_NEAR(kernel["tensor_cores"]["promotion"].get<double>(), 2.0 / 12.0, 1e-9);
}

TEST_F(Program, ExplainsForADeviceThatIsNotThere) {
  const auto json = result_of("explain --diff 6:7 --arch 90");
  for (const auto& kernel : json["kernels"]) {
    EXPECT_EQ(kernel["loop"]["multiply_adds"], 1024.0);
    EXPECT_EQ(kernel["resources"]["resident_groups"], 2);
    EXPECT_EQ(kernel["resources"]["limited_by"], "registers");
    EXPECT_TRUE(kernel["gflops"].is_null());
  }
  expect_all_refused(
      {{"explain --kernel 7 --arch 30", {"compute capability 30", "toolkit compiles for", "and newer"}}});
}
#else
TEST_F(Program, ExplainsForADeviceThatIsNotThereThroughCudaOnly) {
  expect_all_refused({{"explain --kernel 7 --arch 90", {"--arch", "no CUDA"}}});
}
#endif

}  // namespace
}  // namespace duogemm::testing
