// Comparisons: every contender on small problems of all kinds, on every device, and what is made of times.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/compare_json.h"
#include "compare/compare_tables.h"
#include "compare/match.h"
#include "test_devices.h"

namespace duogemm::bench {
namespace {

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
  void match(const Conditions& conditions, const std::vector<NamedShape>& shapes) {
    Arena arena({GetParam().backend, GetParam().index}, conditions);
    for (const NamedShape& shape : shapes) {
      SCOPED_TRACE(shape.label);
      Match match(arena, "every kind", shape, [](const std::string&) {});
      std::vector<Contender> contenders;
      match.add_contenders(contenders);
      EXPECT_EQ(contenders.size(), arena.libraries().size() + 1);
      for (const Contender& contender : contenders) {
        EXPECT_GT(contender.run(1), 0.0) << contender.name;
        EXPECT_GT(contender.run(3), 0.0) << contender.name;
      }
      const CompareRow row = match.take_row();
      EXPECT_EQ(row.skipped, "");
      EXPECT_TRUE(row.ok()) << row.verdict.first_fault;
      EXPECT_NE(row.plan, "");
      for (const OtherTime& other : row.others) {
        EXPECT_EQ(other.unavailable, "");
        EXPECT_LE(other.worst_error, 1.0);
      }
    }
  }
};

TEST_P(Contenders, AreRightOnEveryKindOfProblem) { match({}, every_kind()); }

TEST_P(Contenders, AreCalledOnPlainArrays) { match({.through = Through::host, .against = {}}, every_kind()); }

TEST_P(Contenders, AreCalledThroughTheDropInLibrary) {
  match({.through = Through::blas, .against = {}}, every_kind());
}

TEST_P(Contenders, AreCalledByThreadsAtOnce) {
  match({.through = Through::host, .callers = 3, .against = {}}, {every_kind().front(), every_kind().back()});
}

TEST_P(Contenders, TakeOperandsThatNoCacheHolds) {
  match({.cold = true, .graph = false, .against = {}}, {every_kind().front(), every_kind().back()});
}

TEST_P(Contenders, AreRecorded) {
  match({.cold = false, .graph = true, .against = {}}, every_kind());
  match({.cold = true, .graph = true, .against = {}}, {every_kind().back()});
}

TEST_P(Contenders, AreThoseThatWereAskedFor) {
  Arena arena({GetParam().backend, GetParam().index},
              {.cold = false, .graph = false, .against = std::vector<std::string>{}});
  EXPECT_TRUE(arena.libraries().empty());
}

TEST_P(Contenders, SkipWhatTheDeviceHasNoMemoryFor) {
  Arena arena({GetParam().backend, GetParam().index}, {});
  const NamedShape huge{"huge", packed_problem(1 << 24, 1 << 13, 1, "NN", 1)};
  Match match(arena, "list", huge, [](const std::string&) {});
  std::vector<Contender> contenders;
  match.add_contenders(contenders);
  EXPECT_TRUE(contenders.empty());
  const CompareRow row = match.take_row();
  EXPECT_NE(row.skipped.find("GB"), std::string::npos) << row.skipped;
  EXPECT_TRUE(row.ok());
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

INSTANTIATE_TEST_SUITE_P(Devices, Contenders, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

Samples samples_of(double seconds) { return {{seconds}, 1}; }

CompareRow row_of(const std::string& list, const std::string& label, double ours, double other) {
  CompareRow row;
  row.list = list;
  row.shape = {label, packed_problem(10, 10, 10, "NN", 1)};
  row.repeatable = true;
  row.ours = samples_of(ours);
  row.others.push_back({"", samples_of(other), 0.5});
  return row;
}

CompareReport some_report() {
  CompareReport report;
  report.device.name = "a device";
  report.others = {{"Other", "Other 1.2"}};
  report.rows = {row_of("x", "twice", 1.0, 2.0), row_of("x", "half", 2.0, 1.0),
                 row_of("y", "nearly", 1.0, 0.96), row_of("y", "four times", 0.25, 1.0)};
  CompareRow skipped;
  skipped.list = "y";
  skipped.shape = {"skipped", packed_problem(1, 1, 1, "NN", 1)};
  skipped.skipped = "too large";
  skipped.others.resize(1);
  report.rows.push_back(skipped);
  CompareRow alone = row_of("y", "alone", 1.0, 1.0);
  alone.others[0] = {"it failed", {}, 0.0};
  report.rows.push_back(alone);
  return report;
}

TEST(Summary, HasTheGeometricMeanTheWorstAndCounts) {
  const CompareReport report = some_report();
  const RatioSummary x = summarize(report, 0, "x");
  EXPECT_EQ(x.shapes, 2u);
  EXPECT_NEAR(x.geometric_mean, 1.0, 1e-12);
  EXPECT_EQ(x.worst, 0.5);
  EXPECT_EQ(x.worst_label, "x/half");
  EXPECT_EQ(x.below_1, 1u);
  EXPECT_EQ(x.below_095, 1u);
  const RatioSummary all = summarize(report, 0, "");
  EXPECT_EQ(all.shapes, 4u);
  EXPECT_NEAR(all.geometric_mean, std::pow(2.0 * 0.5 * 0.96 * 4.0, 0.25), 1e-12);
  EXPECT_EQ(all.below_1, 2u);
  EXPECT_EQ(all.below_095, 1u);
  EXPECT_EQ(summarize(report, 0, "z").shapes, 0u);
}

TEST(Report, TellsWhatIsWrongWhatIsSkippedAndWhoIsMissing) {
  CompareReport report = some_report();
  EXPECT_TRUE(report.ok());
  report.rows[0].verdict.first_fault = "C[3] was overwritten";
  report.rows[0].verdict.overwritten = 1;
  report.rows[1].repeatable = false;
  EXPECT_FALSE(report.ok());
  const std::string text = list_text(report, "x") + list_text(report, "y") + summary_text(report);
  for (const char* part : {"WRONG: C[3] was overwritten", "WRONG: a second run gave other bits",
                           "skipped: too large", "ok; no Other: it failed", "y/nearly"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(Report, IsWrittenAsTheSchemaSays) {
  CompareRequest request;
  request.lists = {{"x", {}}, {"y", {}}};
  request.conditions.through = Through::host;
  const auto json = nlohmann::json::parse(compare_json({some_report()}, request));
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
