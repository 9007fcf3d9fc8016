// A run that ends before its time leaves its rows.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

constexpr int after_interrupt = 130;

class ProgramInterrupted : public ProgramOnADevice {
 protected:
  // Once the condition holds for the shell; at the latest after a minute.
  Outcome interrupt_once(const std::string& condition, const std::string& arguments) const {
    return run_shell("( '" DUOGEMM_PROGRAM "' " + arguments + " >out.txt & program=$!; tries=0; until " +
                     condition +
                     " || [ $((tries += 1)) = 1200 ]; do sleep 0.05; done;"
                     " kill -INT $program; wait $program; status=$?; cat out.txt; exit $status )");
  }
  static std::string printed(const std::string& line) { return "grep -q '^" + line + "' out.txt"; }
};

// Rows are printed as they come.
TEST_F(ProgramInterrupted, PrintsAndWritesTheShapesOfAComparisonThatAreDone) {
  write("two.txt", "first 4 4 4\nsecond 64 64 64\n");
  const Outcome outcome = interrupt_once(
      printed("first"), "compare --shapes two.txt --against none --noise 0.001 --seconds 2 --json r.json");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  expect_match(outcome.out, "Warning: the run was interrupted");
  const auto run = json_in("r.json")["runs"][0];
  EXPECT_EQ(run["rows"].size(), 1u);
  EXPECT_EQ(run["warnings"].back(), "the run was interrupted: shapes are missing");
}

TEST_F(ProgramInterrupted, SaysWhichPointsOfASweepAreMissing) {
  const Outcome outcome =
      interrupt_once(printed("   8"), "sweep --kernel 1 --over size=8:512:x8 --seconds 0.2 --json r.json");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  expect_match(outcome.out, "interrupted before it was measured");
  const auto points = json_in("r.json")["points"];
  ASSERT_EQ(points.size(), 3u);
  EXPECT_TRUE(points[0].contains("row"));
  EXPECT_TRUE(points[2].contains("invalid"));
}

TEST_F(ProgramInterrupted, LeavesAnOldFileWhereNothingWasMeasured) {
  write("r.json", "precious");
  const Outcome outcome =
      run_shell("timeout --preserve-status -s INT 0.05 '" DUOGEMM_PROGRAM "' ladder --size 64 --json r.json");
  EXPECT_GE(outcome.status, after_interrupt) << outcome.out;
  EXPECT_EQ(read("r.json"), "precious");
}

TEST_F(ProgramInterrupted, LeavesTheTuningThatThereIs) {
  write("r.json", "precious");
  const Outcome outcome =
      interrupt_once("[ -s r.json.partial ]", "tune --budget 60s --ops NN --no-resume --out r.json");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  expect_match(outcome.out, "r.json is left as it was");
  EXPECT_EQ(read("r.json"), "precious");
  EXPECT_NE(read("r.json.partial").find("duogemm.tuning/"), std::string::npos);
}

// On a terminal, which script is: on which shape it works, and how long the others will take.
TEST_F(ProgramInterrupted, ShowsHowFarAComparisonIs) {
  write("two.txt", "quick 4 4 4\nslow 8 8 8\n");
  write("command", "'" DUOGEMM_PROGRAM "' compare --shapes two.txt --against none --seconds 0.1 >out.txt\n");
  const Outcome outcome = run_shell("script -qec 'sh command' /dev/null </dev/null");
  expect_match(outcome.out, "1 of 2: ");
  expect_match(outcome.out, "2 of 2, [0-9]+ s left: ");
}

}  // namespace
}  // namespace duogemm::testing
