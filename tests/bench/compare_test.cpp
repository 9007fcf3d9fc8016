// Comparisons: every contender on small problems of all kinds, on every device, and what is made of times.
#include <gtest/gtest.h>

#include <cmath>

#include "output/reports.h"
#include "test_devices.h"

namespace duogemm::bench {
namespace {

using testing::device_name;
using testing::DeviceName;
using testing::test_devices;

const std::vector<NamedShape>& every_kind() {
  static const std::vector<NamedShape> shapes = parse_shapes(
      "nn       33   17   5 NN\n"
      "nt       33   17   5 NT\n"
      "tn       33   17   5 TN beta=0.5\n"
      "tt       33   17   5 TT lda=10 ldb=20 ldc=40 beta=-1\n"
      "vector   16    1  64 TN\n"
      "one       1    1   1\n"
      "batch     9    8   7 TN batch=5\n"
      "shared    9    8   7 TT batch=5 lda=9 a_stride=0 beta=1\n"
      "heads    70   70  12 TN batch=3 lda=36 a_stride=12 ldc=210 c_stride=70\n"
      "large   300  310 200 NT\n",
      "every kind");
  return shapes;
}

class Contenders : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (const std::string missing = GetParam().missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }

  // Everybody must be right, and be timed.
  void match(const CompareConditions& conditions, const std::vector<NamedShape>& shapes) {
    Sessions sessions = sessions_of(conditions);
    for (const NamedShape& shape : shapes) {
      SCOPED_TRACE(shape.label);
      Trial trial(sessions, shape.problem);
      const auto exam = sampled_exam(shape.problem);
      trial.judge(*exam, [](const std::string&) {});
      const std::vector<Contender> contenders = trial.contenders();
      EXPECT_EQ(contenders.size(), sessions.front().entries().size());
      for (const Contender& contender : contenders) {
        EXPECT_GT(contender.run(1), 0.0) << contender.name;
        EXPECT_GT(contender.run(3), 0.0) << contender.name;
      }
      const ProblemRows problem{.rows = trial.take_rows()};
      EXPECT_TRUE(is_ok(problem)) << problem.rows.front().verdict.first_fault;
      EXPECT_NE(problem.rows.front().plan, "");
      for (const Row& row : problem.rows) {
        EXPECT_EQ(row.missing, "");
        EXPECT_LE(row.verdict.worst_error, 1.0);
      }
    }
  }

  static Sessions sessions_of(const CompareConditions& conditions) {
    Sessions sessions;
    add_compare_session(sessions, {GetParam().backend, GetParam().index}, conditions);
    return sessions;
  }
};

CompareConditions with(const Conditions& conditions, Through through = Through::device) {
  return {conditions, through};
}

TEST_P(Contenders, AreRightOnEveryKindOfProblem) { match({}, every_kind()); }

TEST_P(Contenders, AreCalledOnPlainArrays) { match(with({}, Through::host), every_kind()); }

TEST_P(Contenders, AreCalledThroughTheDropInLibrary) { match(with({}, Through::blas), every_kind()); }

TEST_P(Contenders, AreCalledByThreadsAtOnce) {
  match(with({.callers = 3}, Through::host), {every_kind().front(), every_kind().back()});
}

TEST_P(Contenders, TakeOperandsThatNoCacheHolds) {
  match(with({.cold = true}), {every_kind().front(), every_kind().back()});
}

TEST_P(Contenders, AreRecorded) {
  match(with({.graph = true}), every_kind());
  match(with({.cold = true, .graph = true}), {every_kind().back()});
}

TEST_P(Contenders, AreThoseThatWereAskedFor) {
  CompareConditions nobody;
  nobody.against.emplace();
  EXPECT_EQ(sessions_of(nobody).front().entries().size(), 1u);
}

TEST_P(Contenders, SkipWhatTheDeviceHasNoMemoryFor) {
  const CompareRequest request{.lists = {{"list", {{"huge", packed_problem(1 << 24, 1 << 13, 1, "NN", 1)}}}},
                               .devices = {{GetParam().backend, GetParam().index}}};
  Progress progress;
  const auto ignore = [](const auto&, const ShapeList&) {};
  const CompareReport report = run_compare(request, progress, {ignore, ignore}).front();
  EXPECT_NE(report.problems.at(0).skipped.find("GB"), std::string::npos) << report.problems[0].skipped;
  EXPECT_TRUE(report.ok());
}

// A recording is nothing but what would have been executed.
TEST_P(Contenders, RecordThroughCudaOnly) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  int calls = 0;
  const auto enqueue = [&] { ++calls; };
  if (GetParam().backend->name() == "cuda") {
    device.queue->record(enqueue)->enqueue();
    EXPECT_EQ(calls, 1);
  } else {
    EXPECT_THROW(device.queue->record(enqueue), Error);
    EXPECT_EQ(calls, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Contenders, ::testing::ValuesIn(test_devices()), device_name);

Samples samples_of(double seconds) { return {{seconds}, 1}; }

ProblemRows row_of(const std::string& list, const std::string& label, double ours, double other) {
  return {list,
          {label, packed_problem(10, 10, 10, "NN", 1)},
          "",
          {{.samples = samples_of(ours)}, {.title = "Other", .samples = samples_of(other)}}};
}

CompareReport some_report() {
  CompareReport report;
  report.device.name = "a device";
  report.others = {{"Other", "Other 1.2"}};
  report.problems = {row_of("x", "twice", 1.0, 2.0), row_of("x", "half", 2.0, 1.0),
                     row_of("y", "nearly", 1.0, 0.96), row_of("y", "four times", 0.25, 1.0)};
  report.problems.push_back(
      {"y", {"skipped", packed_problem(1, 1, 1, "NN", 1)}, "too large", std::vector<Row>(2)});
  report.problems.push_back(row_of("y", "alone", 1.0, 1.0));
  report.problems.back().rows[1] = {.title = "Other", .missing = "it failed"};
  return report;
}

TEST(Summary, HasTheGeometricMeanTheWorstAndCounts) {
  const CompareReport report = some_report();
  const Ratios x = summarize(report, 0, "x");
  EXPECT_EQ(x.count, 2u);
  EXPECT_NEAR(x.mean(), 1.0, 1e-12);
  EXPECT_EQ(x.worst, 0.5);
  EXPECT_EQ(x.worst_label, "x/half");
  EXPECT_EQ(x.below_1, 1u);
  EXPECT_EQ(x.below_095, 1u);
  const Ratios all = summarize(report, 0, "");
  EXPECT_EQ(all.count, 4u);
  EXPECT_NEAR(all.mean(), std::pow(2.0 * 0.5 * 0.96 * 4.0, 0.25), 1e-12);
  EXPECT_EQ(all.below_1, 2u);
  EXPECT_EQ(all.below_095, 1u);
  EXPECT_EQ(summarize(report, 0, "z").count, 0u);
}

TEST(Report, TellsWhatIsWrongWhatIsSkippedAndWhoIsMissing) {
  CompareReport report = some_report();
  EXPECT_TRUE(report.ok());
  report.problems[0].rows[0].verdict.first_fault = "C[3] was overwritten";
  report.problems[0].rows[0].verdict.overwritten = 1;
  report.problems[1].rows[0].repeatable = false;
  EXPECT_FALSE(report.ok());
  const std::string text = list_text(report, "x") + list_text(report, "y") + summary_text(report);
  for (const char* part : {"WRONG: C[3] was overwritten", "WRONG: a second run gave other bits",
                           "skipped: too large", "ok; no Other: it failed", "y/nearly"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(Report, HasTablesOfTextOrMarkdown) {
  Table table = {left("kernel"), "x"};
  table.add_row({"naive", "1.5"});
  EXPECT_EQ(table.text(), "kernel    x\n------  ---\nnaive   1.5\n");
  Table::style = Table::Style::markdown;
  EXPECT_EQ(table.text(), "\n| kernel |   x |\n| ------ | --: |\n| naive  | 1.5 |\n\n");
  Table::style = Table::Style::text;
}

TEST(Report, HasTablesAsWideAsATerminal) {
  Table table = {left("kernel"), left("set"), left("of"), "x", "spread", left("")};
  table.add_row({"naive", "", "fp32", "1.5", "3%", "ok"});
  table.add_row({"tiled", "TSM=128 TSN=128 TSK=16", "fp32", "2.5", "2%", "WRONG: C[3]"});
  const std::string whole = table.text();
  Table::room = 62;
  EXPECT_EQ(table.text(), whole);
  Table::room = 36;
  EXPECT_EQ(table.text(),
            "of: fp32\n"
            "kernel    x  spread\n"
            "------  ---  ------  -----------\n"
            "naive   1.5      3%  ok\n"
            "tiled   2.5      2%  WRONG: C[3]\n"
            "    TSM=128 TSN=128 TSK=16\n");
  Table::room = 20;
  EXPECT_EQ(table.text(),
            "of: fp32\n"
            "kernel    x\n"
            "------  ---\n"
            "naive   1.5  ok\n"
            "tiled   2.5\n"
            "    TSM=128 TSN=128\n"
            "    TSK=16  WRONG:\n"
            "    C[3]\n"
            "Left out for want of\n"
            "room: spread. --wide\n"
            "has all.\n");
  Table::room = 16;
  Table alike = {left("kernel"), left("set"), left("")};
  alike.add_row({"naive", "TS=16", "ok"});
  alike.add_row({"tiled", "TS=16", "ok"});
  EXPECT_EQ(alike.text(), "set: TS=16\nkernel\n------  --\nnaive   ok\ntiled   ok\n");
  EXPECT_EQ(warning_lines({"short", "much too long"}), "Warning: short\nWarning: much...\n");
  Table::room = 0;
}

TEST(Report, PrintsRowsThatComeOneByOneAsWideAsATerminal) {
  Table table = {left("shape"), measured("us"), "ops", measured("spread", 6), left("")};
  table.add_row({"square", "", "NN", "", ""});
  table.add_row({"of many words and columns", "", "NN", "", ""});
  const std::string rule = "-------------------------  --------  ---  ------\n";
  EXPECT_EQ(table.head(), "shape                            us  ops  spread\n" + rule);
  EXPECT_EQ(table.foot(), "");
  Table::room = 30;
  EXPECT_EQ(table.head(), "ops: NN\nshape         us  spread\n------  --------  ------\n");
  EXPECT_EQ(table.row({"square", "1.25", "NN", "3.0%", "ok"}), "square      1.25    3.0%  ok\n");
  EXPECT_EQ(table.row({"of many words and columns", "1.25", "NN", "3.0%", "skipped: too large"}),
            "of many words and columns\n            1.25    3.0%\n    skipped: too large\n");
  Table::room = 22;
  EXPECT_EQ(table.head(), "ops: NN\nshape         us\n------  --------\n");
  EXPECT_EQ(table.foot(), "Left out for want of\nroom: spread. --wide\nhas all.\n");
  Table::room = 0;
}

TEST(Report, BreaksLinesBetweenWords) {
  const std::string text = "schedule  TSM=64 TSN=128 in 4 slices";
  EXPECT_EQ(filled(text, 10), text + "\n");
  Table::room = 22;
  EXPECT_EQ(filled(text, 10), "schedule  TSM=64\n          TSN=128 in 4\n          slices\n");
  EXPECT_EQ(filled("one_word_that_is_longer than that"), "one_word_that_is_longer\nthan that\n");
  Table::room = 0;
}

TEST(Report, HasColoursForWhatIsWrongAndWhatIsBest) {
  Table table = {left("kernel"), left("")};
  table.add_row({"naive", "ok"});
  table.add_row({"tiled", "WRONG: C[3]"});
  table.add_row({"strip", "ok"});
  table.mark_best(2);
  Table::colours = true;
  EXPECT_EQ(table.text(),
            "kernel\n------  -----------\nnaive   ok\n\033[31mtiled   WRONG: C[3]\033[0m\n\033[32mstrip   "
            "ok\033[0m\n");
  EXPECT_EQ(warning_lines({"hot"}), "\033[33mWarning:\033[0m hot\n");
  Table::colours = false;
}

TEST(Report, IsWrittenAsTheSchemaSays) {
  CompareRequest request;
  request.lists = {{"x", {}}, {"y", {}}};
  request.conditions.through = Through::host;
  const auto json = compare_json({some_report()}, request);
  EXPECT_EQ(json["schema"], "duogemm.compare/1");
  EXPECT_EQ(json["operands"], "hot");
  EXPECT_EQ(json["through"], "host");
  const auto& run = json["runs"][0];
  ASSERT_EQ(run["rows"].size(), 6u);
  EXPECT_EQ(run["rows"][0]["others"][0]["ratio"], 2.0);
  EXPECT_EQ(run["rows"][0]["gflops"], 2e-6);
  EXPECT_EQ(run["rows"][4]["skipped"], "too large");
  EXPECT_FALSE(run["rows"][4].contains("time"));
  EXPECT_EQ(run["rows"][5]["others"][0]["unavailable"], "it failed");
  ASSERT_EQ(run["summary"].size(), 3u);
  EXPECT_TRUE(run["summary"][0]["list"].is_null());
  EXPECT_EQ(run["summary"][2]["list"], "y");
  EXPECT_EQ(run["summary"][2]["worst_label"], "y/nearly");
}

}  // namespace
}  // namespace duogemm::bench
