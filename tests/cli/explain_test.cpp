// `duogemm explain`.
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

// On any device: what was measured; and where instructions can be had, what they are.
TEST_F(ProgramOnADevice, ExplainsTwoKernelsAndDumpsThem) {
  const Outcome outcome =
      run("explain --diff 1:11,WGM=4 --size 64 --seconds 0.01 --json e.json --dump texts");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("registers_only WGM=4 is "), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "e.json"));
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
      contents_of(folder_ / "texts" / (json["kernels"][0]["backend"].get<std::string>() + "_naive.cl"));
  EXPECT_NE(source.find("naive("), std::string::npos);
}

TEST_F(ProgramOnADevice, ExplainsTheLibrarysKernels) {
  const Outcome outcome = run("explain --kernel general --size 64 --seconds 0.01");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("general reaches "), std::string::npos) << outcome.out;
}

TEST_F(ProgramOnADevice, ExplainsWhatTheLibraryRunsInAPrecision) {
  const Outcome outcome = run("explain --precision f16x3 --size 64 --seconds 0.01 --json e.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "e.json"));
  EXPECT_EQ(json["kernels"][0]["precision"], "f16x3");
  const BadInput fp32{"explain --kernel tensor --size 64", {"tensor", "--precision f16x3"}};
  expect_refused(run(fp32.arguments), fp32);
  const BadInput set{"explain --precision f16x3 --set TSM=128", {"--set", "--kernel"}};
  expect_refused(run(set.arguments), set);
}

#ifdef DUOGEMM_WITH_CUDA
TEST_F(Program, ExplainsTensorCores) {
  const Outcome outcome =
      run("explain --kernel tensor --precision f16x3 --set TSM=256,TSK=64 --arch 90 --json e.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("promotion, percent of the products' clocks"), std::string::npos) << outcome.out;
  const auto kernel = nlohmann::json::parse(contents_of(folder_ / "e.json"))["kernels"][0];
  // Three products of 128 x 256 x 64 by 256 work-items, and two additions for each of their 128 sums.
  EXPECT_EQ(kernel["loop"]["multiply_adds"], 3.0 * 128 * 256 * 64 / 256);
  EXPECT_EQ(kernel["loop"]["kinds"]["addition"]["instructions"], 256.0);
  EXPECT_EQ(kernel["tensor_cores"]["products"], 3);
  EXPECT_NEAR(kernel["tensor_cores"]["promotion"].get<double>(), 2.0 / 12.0, 1e-9);
}

TEST_F(Program, ExplainsForADeviceThatIsNotThere) {
  const Outcome outcome = run("explain --diff 6:7 --arch 90 --json e.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "e.json"));
  for (const auto& kernel : json["kernels"]) {
    EXPECT_EQ(kernel["loop"]["multiply_adds"], 1024.0);
    EXPECT_EQ(kernel["resources"]["resident_groups"], 2);
    EXPECT_EQ(kernel["resources"]["limited_by"], "registers");
    EXPECT_TRUE(kernel["gflops"].is_null());
  }
}

TEST_F(Program, DoesNotExplainForWhatTheToolkitDoesNotKnow) {
  const BadInput bad{"explain --kernel 7 --arch 30",
                     {"compute capability 30", "toolkit compiles for", "and newer"}};
  expect_refused(run(bad.arguments), bad);
}
#else
TEST_F(Program, ExplainsForADeviceThatIsNotThereThroughCudaOnly) {
  const BadInput bad{"explain --kernel 7 --arch 90", {"--arch", "no CUDA"}};
  expect_refused(run(bad.arguments), bad);
}
#endif

}  // namespace
}  // namespace duogemm::testing
