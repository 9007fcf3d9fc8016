// `duogemm plan`, `tune` and `latency`.
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
  const BadInput whole{"plan --size 100 --level everywhere --force pipelined:slices=4",
                       {"slices=4", "run_to_run"}};
  expect_refused(run(whole.arguments), whole);
}

TEST_F(ProgramOnADevice, NamesATuningFileThatIsBroken) {
  std::ofstream(folder_ / "broken.json") << "{\"schema\": \"duogemm.tuning/99\"}";
  const Outcome outcome = run_shell("DUOGEMM_TUNING_DIR=. '" DUOGEMM_PROGRAM "' plan --size 64");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(matches(outcome.err, "^duogemm: this tuning file is passed over: [^\n]*broken.json[^\n]*\n$"))
      << outcome.err;
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
  EXPECT_NE(json.find("\"TRANS_A\""), std::string::npos) << json;  // what the first run found
  EXPECT_NE(json.find("\"m\":40"), std::string::npos) << json;
  ASSERT_EQ(plan.status, 0) << plan.err;
  EXPECT_NE(plan.out.find("found.json"), std::string::npos) << plan.out;
  EXPECT_EQ(plan.out.find("predicted  - us"), std::string::npos) << plan.out;
  expect_refused(refused, {"tune --budget 1s --out found.json", {"found.json", "schema"}});
}

}  // namespace
}  // namespace duogemm::testing
