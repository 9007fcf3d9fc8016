// The C functions: the right status for each error, a message, and no exception.
#include <gtest/gtest.h>

#include <algorithm>
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

// On a device, if there is one.
class CApiOnADevice : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    const std::vector<DeviceName> names = test_devices();
    if (std::ranges::none_of(names, [&](const auto& name) { return find_test_device(name, reason); })) {
      GTEST_SKIP() << reason;
    }
  }
};

TEST_F(CApiOnADevice, Multiplies) {
  duogemm_problem problem = two_by_two();
  problem.layout = DUOGEMM_ROW_MAJOR;
  const float a[] = {1, 2, 3, 4};
  const float b[] = {5, 6, 7, 8};
  std::vector<float> c(4);
  ASSERT_EQ(duogemm_sgemm(&problem, a, b, c.data()), DUOGEMM_SUCCESS) << duogemm_last_error();
  EXPECT_EQ(c, (std::vector<float>{19, 22, 43, 50}));
}

TEST_F(CApiOnADevice, TellsHowFarItIs) {
  duogemm_problem problem = two_by_two();
  problem.m = 0;  // is done at once
  std::vector<double> fractions;
  const auto note = [](double fraction, std::uint64_t, void* to) {
    static_cast<std::vector<double>*>(to)->push_back(fraction);
  };
  EXPECT_EQ(duogemm_sgemm_with_progress(&problem, nullptr, nullptr, nullptr, note, &fractions),
            DUOGEMM_SUCCESS);
  EXPECT_EQ(fractions, std::vector<double>{1.0});
  EXPECT_EQ(duogemm_sgemm_with_progress(&problem, nullptr, nullptr, nullptr, nullptr, nullptr),
            DUOGEMM_SUCCESS);
}

TEST(CApi, TellsItsVersion) { EXPECT_STREQ(duogemm_version(), DUOGEMM_VERSION); }

template <typename Enumeration>
void put(Enumeration& to, int value) {
  std::memcpy(&to, &value, sizeof value);
}

TEST(CApi, RefusesAndNamesAWrongArgumentAndLeavesCUntouched) {
  const std::pair<void (*)(duogemm_problem&), const char*> wrong[] = {
      {[](duogemm_problem& p) { put(p.layout, 2); }, "layout is 2; it must be 0 or 1"},
      {[](duogemm_problem& p) { put(p.a_op, -1); }, "a_op is -1; it must be 0 or 1"},
      {[](duogemm_problem& p) { put(p.b_op, 112); }, "b_op is 112; it must be 0 or 1"},
      {[](duogemm_problem& p) { put(p.level, 3); }, "level is 3; it must be 0 to 2"},
      {[](duogemm_problem& p) { put(p.precision, 3); }, "precision is 3; it must be 0 to 2"},
      {[](duogemm_problem& p) { put(p.a_type, 3); }, "a_type is 3; it must be 0 to 2"},
      {[](duogemm_problem& p) { put(p.c_type, -1); }, "c_type is -1; it must be 0 to 2"},
      {[](duogemm_problem& p) { p.m = -1; }, "m is -1; it must be at least 0"},
      {[](duogemm_problem& p) { p.b_stride = -1; }, "b_stride is -1; it must be at least 0"}};
  for (const auto& [spoil, message] : wrong) {
    duogemm_problem problem = two_by_two();
    spoil(problem);
    const std::vector<float> ones(4, 1.0f);
    std::vector<float> c(4, 7.0f);
    EXPECT_EQ(duogemm_sgemm(&problem, ones.data(), ones.data(), c.data()), DUOGEMM_INVALID_ARGUMENT);
    EXPECT_STREQ(duogemm_last_error(), message);
    EXPECT_EQ(c, std::vector<float>(4, 7.0f));
  }
}

TEST(CApi, RefusesNull) {
  const duogemm_problem problem = two_by_two();
  std::vector<float> memory(4, 7.0f);
  EXPECT_EQ(duogemm_sgemm(nullptr, memory.data(), memory.data(), memory.data()), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "problem is null");
  for (int missing = 0; missing < 3; ++missing) {
    const auto place = [&](int which) { return which == missing ? nullptr : memory.data(); };
    EXPECT_EQ(duogemm_sgemm(&problem, place(0), place(1), place(2)), DUOGEMM_INVALID_ARGUMENT);
    EXPECT_EQ(duogemm_last_error(), std::string(1, "abc"[missing]) + " is null");
  }
}

}  // namespace
}  // namespace duogemm::testing
