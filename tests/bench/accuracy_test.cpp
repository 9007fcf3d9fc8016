// Accuracies: which errors are wrong, and what the kinds of matrices are that they are measured on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "output/reports.h"

namespace duogemm::bench {
namespace {

const InputClass& find(const std::string& name) {
  return *std::ranges::find(input_classes(), name, &InputClass::name);
}

Row with_error(const char* title, double error) {
  Row row{.title = title, .mean_error = 1.0};
  row.verdict.worst_error = error;
  return row;
}

// One precision versus cuBLAS.
std::string fault(Precision precision, const char* input, std::int64_t k, double ours, double cublas) {
  const AccuracyRow row{.input = find(input),
                        .k = k,
                        .elements = 1,
                        .bound = 2.0 * std::sqrt(static_cast<double>(k)) + 4.0,
                        .rows = {with_error("ours", ours), with_error("cuBLAS", cublas)}};
  return fault_of(row, {precision});
}

TEST(AccuracyFault, IsWhatIsAboveTheBoundOrFarFromCublas) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fault(Precision::bf16x6, "unit", 64, 12.4, 10.0), "");
  EXPECT_EQ(fault(Precision::bf16x6, "unit", 64, 12.6, 10.0), "bf16x6 is above 1.25 of cuBLAS's error");
  EXPECT_EQ(fault(Precision::bf16x6, "unit", 16, 11.9, 1.0), "") << "short sums are not compared";
  EXPECT_EQ(fault(Precision::fp32, "unit", 64, 12.6, 1.0), "") << "nor those of FP32";
  EXPECT_EQ(fault(Precision::f16x3, "unit", 64, 3.0, 0.5), "");
  EXPECT_EQ(fault(Precision::f16x3, "unit", 64, 3.1, 0.5), "f16x3 is above 1.25 of cuBLAS's error");
  EXPECT_EQ(fault(Precision::fp32, "unit", 64, 67.1, 50.0), "fp32 is above the bound of 67.0");
  EXPECT_EQ(fault(Precision::f16x3, "unit", 64, 20.1, 18.0), "f16x3 is above the bound of 20.0");
  EXPECT_EQ(fault(Precision::f16x3, "unit", 64, 30.0, 40.0), "") << "as FP32 there";
  EXPECT_EQ(fault(Precision::f16x3, "unit", 64, infinity, 1.0), "f16x3 is above the bound of 20.0");
  EXPECT_EQ(fault(Precision::fp32, "integers", 64, 0.0, 0.0), "");
  EXPECT_EQ(fault(Precision::fp32, "integers", 64, 0.1, 0.1), "fp32 is not exact");
}

TEST(AccuracyFault, IsThatOfFp32WherePermissionsAreNotUsed) {
  AccuracyRow row{.input = find("unit"),
                  .k = 64,
                  .elements = 1,
                  .bound = 20.0,
                  .rows = {with_error("ours", 30.0), with_error("cuBLAS", 10.0)}};
  row.rows[0].setting.spec = &find_kernel("tensor");
  EXPECT_EQ(fault_of(row, {Precision::bf16x6}), "bf16x6 is above the bound of 20.0");
  row.rows[0].setting.spec = &find_kernel("pipelined");
  EXPECT_EQ(fault_of(row, {Precision::bf16x6}), "");
}

TEST(InputClasses, AreTheSameEachTimeAndFinite) {
  std::set<std::string> names;
  for (const InputClass& input : input_classes()) {
    SCOPED_TRACE(input.name);
    EXPECT_TRUE(names.insert(input.name).second);
    for (const auto& [numbers, again] : {std::pair(make_a(input, 40, 37), make_a(input, 40, 37)),
                                         std::pair(make_b(input, 37, 40), make_b(input, 37, 40))}) {
      EXPECT_EQ(numbers, again);
      EXPECT_TRUE(std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); }));
    }
  }
}

TEST(InputClasses, AreWhatTheirNamesSay) {
  const std::vector<float> a = make_a(find("cancelling"), 1, 9);
  const std::vector<float> b = make_b(find("cancelling"), 9, 1);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(a[p], a[p + 4]);
    EXPECT_EQ(b[p], -b[p + 4]);
  }
  EXPECT_EQ(a[8], 0.0f);
  for (const float number : make_a(find("denormals"), 8, 8)) {
    EXPECT_FALSE(std::isnormal(number)) << number;
  }
  for (const float number : make_a(find("integers"), 8, 8)) {
    EXPECT_TRUE(number == std::floor(number) && std::fabs(number) <= 8.0f) << number;
  }
  const std::vector<float> row = make_a(find("adversarial"), 1, 64);
  for (std::size_t p = 0; p < row.size(); p += 2) {
    EXPECT_GT(std::fabs(row[p]), 0x1p40f * std::fabs(row[p + 1]));
  }
}

TEST(AccuracyOutput, HasWhatIsNotFiniteAsNull) {
  KernelSpec general;
  general.name = "general";
  AccuracyReport report{.device = {}, .size = 8, .precisions = {Precision::bf16x6}};
  report.others = {{"cuBLAS-TF32", "cuBLAS-TF32 13.1.0"}};
  report.rows.push_back(
      {.input = find("unit"),
       .k = 4,
       .elements = 64,
       .bound = 8.0,
       .rows = {with_error("bf16x6", std::numeric_limits<double>::infinity()), {.missing = "no reason"}},
       .fault = "bf16x6 is above the bound of 8.0"});
  report.rows[0].rows[0].setting.spec = &general;
  EXPECT_FALSE(report.ok());
  const auto errors = nlohmann::json::parse(accuracy_json(report).dump())["rows"][0]["errors"];
  EXPECT_TRUE(errors[0]["largest"].is_null());
  EXPECT_EQ(errors[0]["kernel"], "general");
  EXPECT_EQ(errors[1]["unavailable"], "no reason");
  const std::string text = accuracy_text(report);
  for (const char* part : {"WRONG: bf16x6 is above", "bf16x6 ran general", "no cuBLAS-TF32: no reason"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

}  // namespace
}  // namespace duogemm::bench
