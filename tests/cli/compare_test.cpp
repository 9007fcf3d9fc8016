// `duogemm compare` and `duogemm accuracy`.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

TEST_F(ProgramOnADevice, ComparesAndWritesWhatItPrints) {
  write("one.txt", "cube 8 8 8\ntransposed 9 7 5 TT batch=3\n");
  write("two.txt", "huge 16777216 16777216 16777216\nsmall 3 2 1 NN beta=1\n");
  const Outcome outcome =
      run_well("compare --shapes one.txt two.txt --level everywhere --seconds 0.001 --json r.json");
  EXPECT_EQ(outcome.err, "");
  expect_match(outcome.out, "skipped: ");
  expect_match(outcome.out, "transposed");
  const auto json = json_in("r.json");
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

TEST_F(ProgramOnADevice, ComparesInAnotherPrecisionAndWhatSeveralThreadsCall) {
  expect_match(
      run_well("compare --size 33 --precision f16x3 --against none --seconds 0.001 --json r.json").out,
      "products may be computed by f16x3");
  EXPECT_EQ(json_in("r.json")["precision"], "f16x3");
  expect_match(
      run_well("compare --size 8 --through host --callers 2 --against none --seconds 0.001 --json r.json")
          .out,
      "by 2 threads at once");
  EXPECT_EQ(json_in("r.json")["callers"], 2);
}

// Kernels of a folder take part, unless their bits are others.
TEST_F(ProgramOnADevice, ComparesWithTheKernelsOfAFolder) {
  use_kernels_with("kernels/update.h", "* (acc);", "* (acc) * 1.000001f;");
  unsetenv("DUOGEMM_KERNEL_DIR");
  const auto run = result_of("compare --size 33 --against none --kernel-dir " DUOGEMM_SOURCE
                             ",. --seconds 0.001")["runs"][0];
  EXPECT_EQ(run["others"][0]["name"], "duogemm with the kernels of " DUOGEMM_SOURCE);
  const auto& others = run["rows"][0]["others"];
  EXPECT_TRUE(others[0].contains("time")) << others;
  EXPECT_EQ(others[1]["unavailable"], "its bits are not those of ours");
  expect_all_refused(
      {{"compare --size 8 --kernel-dir missing",
        {"--kernel-dir missing", "no folder with kernels/ and compat/"}},
       {"compare --size 8 --kernel-dir .,.", {"--kernel-dir .", "already"}},
       {"compare --size 8 --through host --kernel-dir .", {"--kernel-dir", "--through device"}}});
}

TEST_F(ProgramOnADevice, MeasuresErrors) {
  const auto json = result_of("accuracy --inputs unit,integers -k 1,70 --size 20");
  EXPECT_EQ(json["schema"], "duogemm.accuracy/1");
  EXPECT_EQ(json["precisions"], (nlohmann::json{"fp32", "bf16x6", "f16x3"}));
  ASSERT_EQ(json["rows"].size(), 4u);
  EXPECT_EQ(json["rows"][1]["k"], 70);
  EXPECT_EQ(json["rows"][1]["elements"], 400);
  EXPECT_GT(json["rows"][1]["errors"][0]["largest"], json["rows"][1]["errors"][0]["mean"]);
  EXPECT_EQ(json["rows"][3]["errors"][2]["largest"], 0.0) << "integers";
  EXPECT_FALSE(json["rows"][0]["errors"][0].contains("seconds"));
  const auto timed = result_of("accuracy --inputs unit -k 1 --size 20 --precision fp32 --time");
  EXPECT_GT(timed["rows"][0]["errors"][0]["seconds"], 0.0);
}

TEST_F(ProgramOnADevice, MeasuresTheErrorOfWhatIsWrongAndDoesNotTimeIt) {
  use_kernels_with("kernels/update.h", "* (acc);", "* (acc) * 1.001f;");
  const Outcome measured = run("accuracy --inputs unit -k 64 --size 40 --precision bf16x6");
  EXPECT_EQ(measured.status, 1);
  expect_match(measured.out, "WRONG: bf16x6 is above the bound");
  use_kernels_with("kernels/update.h", "* (acc);", "* (type)(2.0f);");
  // No multiple of a vector: kernels for CPUs store whole vectors without update.h.
  const Outcome compared = run("compare --size 33 --against none --seconds 0.001 --json r.json");
  EXPECT_EQ(compared.status, 1);
  expect_match(compared.out, "WRONG: C\\(");
  const auto row = json_in("r.json")["runs"][0]["rows"][0];
  EXPECT_FALSE(row["ok"]);
  EXPECT_TRUE(row["time"].is_null());
}

}  // namespace
}  // namespace duogemm::testing
