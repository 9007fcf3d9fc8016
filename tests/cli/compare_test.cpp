// `duogemm compare`.
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

TEST_F(ProgramOnADevice, ComparesAndWritesWhatItPrints) {
  std::ofstream(folder_ / "one.txt") << "cube 8 8 8\ntransposed 9 7 5 TT batch=3\n";
  std::ofstream(folder_ / "two.txt") << "huge 16777216 16777216 16777216\nsmall 3 2 1 NN beta=1\n";
  const Outcome outcome =
      run("compare --shapes one.txt two.txt --level everywhere --seconds 0.001 --json r.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("skipped: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("transposed"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "r.json"));
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

TEST_F(ProgramOnADevice, ComparesInAnotherPrecision) {
  const Outcome outcome =
      run("compare --size 33 --precision f16x3 --against none --seconds 0.001 --json r.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("products may be computed by f16x3"), std::string::npos) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(contents_of(folder_ / "r.json"))["precision"], "f16x3");
  const BadInput everywhere{"compare --size 33 --precision f16x3 --level everywhere",
                            {"precision is f16x3", "fp32", "everywhere"}};
  expect_refused(run(everywhere.arguments), everywhere);
}

TEST_F(ProgramOnADevice, ComparesWhatSeveralThreadsCall) {
  const Outcome outcome =
      run("compare --size 8 --through host --callers 2 --against none --seconds 0.001 --json r.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("by 2 threads at once"), std::string::npos) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(contents_of(folder_ / "r.json"))["callers"], 2);
}

// Kernels of a folder take part, unless their bits are others.
TEST_F(ProgramOnADevice, ComparesWithTheKernelsOfAFolder) {
  use_kernels_with("kernels/update.h", "(acc), addend);", "(acc) * 1.000001f, addend);");
  unsetenv("DUOGEMM_KERNEL_DIR");
  const Outcome outcome =
      run("compare --size 33 --against none --kernels " DUOGEMM_SOURCE ",. --seconds 0.001 --json r.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "r.json"));
  EXPECT_EQ(json["runs"][0]["others"][0]["name"], "duogemm with the kernels of " DUOGEMM_SOURCE);
  const auto& others = json["runs"][0]["rows"][0]["others"];
  EXPECT_TRUE(others[0].contains("time")) << others;
  EXPECT_EQ(others[1]["unavailable"], "its bits are not those of ours");

  const std::vector<BadInput> inputs = {
      {"compare --size 8 --kernels missing", {"--kernels missing", "no folder with kernels/ and compat/"}},
      {"compare --size 8 --kernels .,.", {"--kernels .", "already"}},
      {"compare --size 8 --through host --kernels .", {"--kernels", "--through device"}},
  };
  for (const BadInput& bad : inputs) {
    expect_refused(run(bad.arguments), bad);
  }
}

TEST_F(ProgramOnADevice, MeasuresErrors) {
  const Outcome outcome = run("accuracy --inputs unit,integers -k 1,70 --size 20 --json r.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "r.json"));
  EXPECT_EQ(json["schema"], "duogemm.accuracy/1");
  EXPECT_EQ(json["precisions"], (nlohmann::json{"fp32", "bf16x6", "f16x3"}));
  ASSERT_EQ(json["rows"].size(), 4u);
  EXPECT_EQ(json["rows"][1]["k"], 70);
  EXPECT_EQ(json["rows"][1]["elements"], 400);
  EXPECT_GT(json["rows"][1]["errors"][0]["largest"], json["rows"][1]["errors"][0]["mean"]);
  EXPECT_EQ(json["rows"][3]["errors"][2]["largest"], 0.0) << "integers";
  EXPECT_FALSE(json["rows"][0]["errors"][0].contains("seconds"));
  ASSERT_EQ(run("accuracy --inputs unit -k 1 --size 20 --precision fp32 --time --json r.json").status, 0);
  const auto timed = nlohmann::json::parse(contents_of(folder_ / "r.json"));
  EXPECT_GT(timed["rows"][0]["errors"][0]["seconds"], 0.0);
  const BadInput bad{"accuracy --precision tf32", {"--precision", "tf32", "bf16x6"}};
  expect_refused(run(bad.arguments), bad);
}

TEST_F(ProgramOnADevice, MeasuresTheErrorOfWhatIsWrong) {
  use_kernels_with("kernels/update.h", "(acc), addend);", "(acc) * 1.001f, addend);");
  const Outcome outcome = run("accuracy --inputs unit -k 64 --size 40 --precision bf16x6");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("WRONG: bf16x6 is above the bound"), std::string::npos) << outcome.out;
}

TEST_F(ProgramOnADevice, DoesNotTimeWhatIsWrong) {
  use_kernels_with("kernels/update.h", "(acc), addend);", "(type)(2.0f), addend);");
  // No multiple of a vector: kernels for CPUs store whole vectors without update.h.
  const Outcome outcome = run("compare --size 33 --against none --seconds 0.001 --json r.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("WRONG: C("), std::string::npos) << outcome.out;
  const auto row = nlohmann::json::parse(contents_of(folder_ / "r.json"))["runs"][0]["rows"][0];
  EXPECT_FALSE(row["ok"]);
  EXPECT_TRUE(row["time"].is_null());
}

}  // namespace
}  // namespace duogemm::testing
