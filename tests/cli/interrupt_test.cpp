// A run that ends before its time leaves its rows.
#include <nlohmann/json.hpp>

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
  nlohmann::json written() const { return nlohmann::json::parse(contents_of(folder_ / "r.json")); }
};

// Rows are printed as they come.
TEST_F(ProgramInterrupted, PrintsAndWritesTheShapesOfAComparisonThatAreDone) {
  std::ofstream(folder_ / "two.txt") << "first 4 4 4\nsecond 64 64 64\n";
  const Outcome outcome = interrupt_once(
      printed("first"), "compare --shapes two.txt --against none --noise 0.001 --seconds 2 --json r.json");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  EXPECT_NE(outcome.out.find("Warning: the run was interrupted"), std::string::npos) << outcome.out;
  const auto run = written()["runs"][0];
  EXPECT_EQ(run["rows"].size(), 1u);
  EXPECT_EQ(run["warnings"].back(), "the run was interrupted: shapes are missing");
}

TEST_F(ProgramInterrupted, SaysWhichPointsOfASweepAreMissing) {
  const Outcome outcome = interrupt_once(
      printed("   8"), "sweep --kernel 1 --over size=8:512:x8 --seconds 0.2 --json r.json --csv r.csv");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  EXPECT_NE(outcome.out.find("interrupted before it was measured"), std::string::npos) << outcome.out;
  const auto points = written()["points"];
  ASSERT_EQ(points.size(), 3u);
  EXPECT_TRUE(points[0].contains("row"));
  EXPECT_TRUE(points[2].contains("invalid"));
}

TEST_F(ProgramInterrupted, LeavesAnOldFileWhereNothingWasMeasured) {
  std::ofstream(folder_ / "r.json") << "precious";
  const Outcome outcome =
      run_shell("timeout --preserve-status -s INT 0.05 '" DUOGEMM_PROGRAM "' ladder --size 64 --json r.json");
  EXPECT_GE(outcome.status, after_interrupt) << outcome.out;
  EXPECT_EQ(contents_of(folder_ / "r.json"), "precious");
}

TEST_F(ProgramInterrupted, LeavesTheTuningThatThereIs) {
  std::ofstream(folder_ / "r.json") << "precious";
  const Outcome outcome =
      interrupt_once("[ -s r.json.partial ]", "tune --budget 60s --ops NN --no-resume --out r.json");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  EXPECT_NE(outcome.out.find("r.json is left as it was"), std::string::npos) << outcome.out;
  EXPECT_EQ(contents_of(folder_ / "r.json"), "precious");
  EXPECT_NE(contents_of(folder_ / "r.json.partial").find("duogemm.tuning/"), std::string::npos);
}

// On a terminal, which script is: on which shape it works, and how long the others will take.
TEST_F(ProgramInterrupted, ShowsHowFarAComparisonIs) {
  std::ofstream(folder_ / "two.txt") << "quick 4 4 4\nslow 8 8 8\n";
  std::ofstream(folder_ / "command") << "'" DUOGEMM_PROGRAM
                                        "' compare --shapes two.txt --against none --seconds 0.1 >out.txt\n";
  const Outcome outcome = run_shell("script -qec 'sh command' /dev/null </dev/null");
  EXPECT_TRUE(matches(outcome.out, "1 of 2: ")) << outcome.out;
  EXPECT_TRUE(matches(outcome.out, "2 of 2, [0-9]+ s left: ")) << outcome.out;
}

}  // namespace
}  // namespace duogemm::testing
