// What is left of a run that ends before its time.
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

constexpr int after_interrupt = 130;

class ProgramInterrupted : public ProgramOnADevice {
 protected:
  Outcome interrupt_after(const std::string& seconds, const std::string& arguments) const {
    return run_shell("timeout --preserve-status -s INT " + seconds + " '" DUOGEMM_PROGRAM "' " + arguments);
  }
  // As soon as it has printed a line that begins so; at the latest after a minute.
  Outcome interrupt_behind(const std::string& line, const std::string& arguments) const {
    return run_shell("( '" DUOGEMM_PROGRAM "' " + arguments +
                     " >out.txt & program=$!; tries=0; until grep -q '^" + line +
                     "' out.txt || [ $((tries += 1)) = 1200 ]; do sleep 0.05; done;"
                     " kill -INT $program; wait $program; status=$?; cat out.txt; exit $status )");
  }
  nlohmann::json written() const { return nlohmann::json::parse(contents_of(folder_ / "r.json")); }
};

TEST_F(ProgramInterrupted, WritesTheRowsOfTheLadderThatItHas) {
  const Outcome outcome = interrupt_after(
      "4", "ladder --size 64 --kernels 1,2 --noise 0.001 --seconds 100 --json r.json --csv r.csv");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  EXPECT_NE(outcome.out.find("naive"), std::string::npos) << outcome.out;
  const auto rows = written()["runs"][0]["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_GE(rows[1]["time"]["seconds"].size(), 1u);
}

// Rows are printed as they come.
TEST_F(ProgramInterrupted, PrintsAndWritesTheShapesOfAComparisonThatAreDone) {
  std::ofstream(folder_ / "two.txt") << "first 4 4 4\nsecond 64 64 64\n";
  const Outcome outcome = interrupt_behind(
      "first", "compare --shapes two.txt --against none --noise 0.001 --seconds 2 --json r.json");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  EXPECT_NE(outcome.out.find("Warning: the run was interrupted"), std::string::npos) << outcome.out;
  const auto run = written()["runs"][0];
  EXPECT_EQ(run["rows"].size(), 1u);
  EXPECT_EQ(run["warnings"].back(), "the run was interrupted: shapes are missing");
}

TEST_F(ProgramInterrupted, SaysWhichPointsOfASweepAreMissing) {
  const Outcome outcome = interrupt_behind(
      "   8", "sweep --kernel 1 --over size=8:512:x8 --seconds 0.2 --json r.json --csv r.csv");
  EXPECT_EQ(outcome.status, after_interrupt) << outcome.err;
  EXPECT_NE(outcome.out.find("interrupted before it was measured"), std::string::npos) << outcome.out;
  const auto points = written()["points"];
  ASSERT_EQ(points.size(), 3u);
  EXPECT_TRUE(points[0].contains("row"));
  EXPECT_TRUE(points[2].contains("invalid"));
}

TEST_F(ProgramInterrupted, LeavesAnOldFileWhereNothingWasMeasured) {
  std::ofstream(folder_ / "r.json") << "precious";
  const Outcome outcome = interrupt_after("0.05", "ladder --size 64 --json r.json");
  EXPECT_GE(outcome.status, after_interrupt) << outcome.out;
  EXPECT_EQ(contents_of(folder_ / "r.json"), "precious");
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
