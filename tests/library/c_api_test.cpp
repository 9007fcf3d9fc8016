// The C functions: the right status for each error, a message, and no exception.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "duogemm/duogemm.h"
#include "duogemm/version.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

duogemm_problem two_by_two() {
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = 2;
  return problem;
}

TEST(CApi, Multiplies) {
  std::string reason;
  bool any = false;
  for (const DeviceName& name : test_devices()) {
    any = any || find_test_device(name, reason) != nullptr;
  }
  if (!any) {
    GTEST_SKIP() << reason;
  }
  duogemm_problem problem = two_by_two();
  problem.layout = DUOGEMM_ROW_MAJOR;
  const float a[] = {1, 2, 3, 4};
  const float b[] = {5, 6, 7, 8};
  std::vector<float> c(4);
  ASSERT_EQ(duogemm_sgemm(&problem, a, b, c.data()), DUOGEMM_SUCCESS) << duogemm_last_error();
  EXPECT_EQ(c, (std::vector<float>{19, 22, 43, 50}));
}

TEST(CApi, TellsHowFarItIs) {
  duogemm_problem problem = two_by_two();
  problem.m = 0;  // needs no device, and is done at once
  std::vector<double> fractions;
  const auto note = [](double fraction, std::uint64_t, void* to) {
    static_cast<std::vector<double>*>(to)->push_back(fraction);
  };
  std::string reason;
  for (const DeviceName& name : test_devices()) {
    if (find_test_device(name, reason) != nullptr) {
      EXPECT_EQ(duogemm_sgemm_with_progress(&problem, nullptr, nullptr, nullptr, note, &fractions),
                DUOGEMM_SUCCESS);
      EXPECT_EQ(fractions, std::vector<double>{1.0});
      EXPECT_EQ(duogemm_sgemm_with_progress(&problem, nullptr, nullptr, nullptr, nullptr, nullptr),
                DUOGEMM_SUCCESS);
      return;
    }
  }
  GTEST_SKIP() << reason;
}

TEST(CApi, TellsItsVersion) { EXPECT_STREQ(duogemm_version(), DUOGEMM_VERSION); }

struct Wrong {
  const char* name;
  void (*spoil)(duogemm_problem&);
  const char* message;
};

class CApiWrongArgument : public ::testing::TestWithParam<Wrong> {};

TEST_P(CApiWrongArgument, IsRefusedAndNamedAndCIsUntouched) {
  duogemm_problem problem = two_by_two();
  GetParam().spoil(problem);
  const std::vector<float> ones(4, 1.0f);
  std::vector<float> c(4, 7.0f);
  EXPECT_EQ(duogemm_sgemm(&problem, ones.data(), ones.data(), c.data()), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), GetParam().message);
  EXPECT_EQ(c, std::vector<float>(4, 7.0f));
}

template <typename Enumeration>
void put(Enumeration& to, int value) {
  std::memcpy(&to, &value, sizeof value);
}

INSTANTIATE_TEST_SUITE_P(
    Sgemm, CApiWrongArgument,
    ::testing::Values(
        Wrong{"layout", [](duogemm_problem& p) { put(p.layout, 2); }, "layout is 2; it must be 0 or 1"},
        Wrong{"a_op", [](duogemm_problem& p) { put(p.a_op, -1); }, "a_op is -1; it must be 0 or 1"},
        Wrong{"b_op", [](duogemm_problem& p) { put(p.b_op, 112); }, "b_op is 112; it must be 0 or 1"},
        Wrong{"level", [](duogemm_problem& p) { put(p.level, 3); }, "level is 3; it must be 0 or 1"},
        Wrong{"precision", [](duogemm_problem& p) { put(p.precision, 3); },
              "precision is 3; it must be 0 to 2"},
        Wrong{"precision_at_everywhere",
              [](duogemm_problem& p) {
                p.level = DUOGEMM_EVERYWHERE;
                p.precision = DUOGEMM_F16X3;
              },
              "precision is f16x3; it must be fp32 at the level everywhere"},
        Wrong{"m", [](duogemm_problem& p) { p.m = -1; }, "m is -1; it must be at least 0"},
        Wrong{"b_stride", [](duogemm_problem& p) { p.b_stride = -1; },
              "b_stride is -1; it must be at least 0"}),
    [](const auto& info) { return info.param.name; });

TEST(CApi, RefusesNull) {
  const duogemm_problem problem = two_by_two();
  std::vector<float> c(4, 7.0f);
  EXPECT_EQ(duogemm_sgemm(nullptr, c.data(), c.data(), c.data()), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "problem is null");
  EXPECT_EQ(duogemm_sgemm(&problem, nullptr, c.data(), c.data()), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "a is null");
  EXPECT_EQ(duogemm_sgemm(&problem, c.data(), nullptr, c.data()), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "b is null");
  EXPECT_EQ(duogemm_sgemm(&problem, c.data(), c.data(), nullptr), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "c is null");
}

}  // namespace
}  // namespace duogemm::testing
