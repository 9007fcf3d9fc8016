// `duogemm plan`, `tune` and `latency`.
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

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
  // There is a prediction where there is a cost model: not on CPUs.
  EXPECT_EQ(outcome.out.find(" -  "), std::string::npos) << outcome.out;
  const BadInput whole{"plan --size 100 --level everywhere --force pipelined:slices=4",
                       {"slices=4", "run_to_run"}};
  expect_refused(run(whole.arguments), whole);
}

TEST_F(ProgramOnADevice, TellsWhatACallRunsAndInWhichPrecision) {
  const Outcome planned = run("plan --size 40 --precision bf16x6");
  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_NE(planned.out.find("precision  bf16x6\n"), std::string::npos) << planned.out;
  for (const std::string command : {"plan", "verify --gemm --kernels general"}) {
    EXPECT_EQ(run(command + " --size 40 --precision bf16x6 --json p.json").status, 0) << command;
    EXPECT_EQ(nlohmann::json::parse(contents_of(folder_ / "p.json"))["precision"], "bf16x6");
  }
  const Outcome called = run_shell("DUOGEMM_LOG=1 '" DUOGEMM_PROGRAM "' latency --size 40 --precision f16x3");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_TRUE(matches(called.err, "duogemm: 40 x 40 x 40 in (fp32|f16x3) runs [a-z_]+ ")) << called.err;
  const BadInput everywhere{"plan --size 40 --precision bf16x6 --level everywhere",
                            {"precision is bf16x6", "fp32"}};
  expect_refused(run(everywhere.arguments), everywhere);
}

// The result alone stands on the standard output.
TEST_F(ProgramOnADevice, WritesEveryAnswerAsJson) {
  for (const std::string command : {"devices", "plan --size 64", "verify --kernels 1 --size 9"}) {
    const Outcome outcome = run(command + " --json -");
    ASSERT_EQ(outcome.status, 0) << command << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["schema"], "duogemm." + command.substr(0, command.find(' ')) + "/1");
    expect_refused(run(command + " --json missing/x.json"),
                   {command, {"--json missing/x.json", "no folder"}});
  }
}

// A setting that is not faster than what the library does already is not written.
TEST_F(ProgramOnADevice, WritesWhatWins) {
  std::ofstream(folder_ / "list.txt") << "mine 40 24 56\n";
  const Outcome tuned =
      run("tune --budget 15s --threads 1 --ops NN --shapes list.txt --out found.json --json t.json");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_FALSE(matches(tuned.out, "-[0-9]+ s left")) << tuned.out;
  EXPECT_NE(tuned.out.find("FLOP/s of the best:"), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.out.find("NN wide"), std::string::npos) << tuned.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "found.json.partial"));
  const bool written = std::filesystem::exists(folder_ / "found.json");
  EXPECT_EQ(written, tuned.out.find("what is faster than before is written") != std::string::npos)
      << tuned.out;
  EXPECT_NE(written, tuned.out.find("Nothing is written to found.json") != std::string::npos) << tuned.out;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "t.json"));
  EXPECT_EQ(json["written"], written);
  const Outcome plan = run_shell("DUOGEMM_TUNING_DIR=. '" DUOGEMM_PROGRAM "' plan -m 40 -n 24 -k 56");
  EXPECT_EQ(written, plan.out.find("found.json") != std::string::npos) << plan.out;
}

TEST_F(ProgramOnADevice, DoesNotGoOnFromAFileThatIsNoTuning) {
  std::ofstream(folder_ / "found.json") << "{}";
  expect_refused(run("tune --budget 1s --out found.json"),
                 {"tune --budget 1s --out found.json", {"found.json", "schema"}});
}

}  // namespace
}  // namespace duogemm::testing
