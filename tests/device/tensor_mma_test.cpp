// The kernel for tensor cores of compute capability 8.0 and newer, which a device of 9.0 has a faster one
// for: by a given schedule, in several settings, on each device that can run it.
#include <gtest/gtest.h>

#include <iostream>

#include "check/judge.h"
#include "ladder/verify_problems.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "runtime/executor.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

using namespace bench;

const std::vector<ScheduleRequest>& requests() {
  static const std::vector<ScheduleRequest> all = {
      parse_schedule("tensor_mma"),
      parse_schedule("tensor_mma:TSN=128,RESIDENT=1,slices=3"),
      parse_schedule("tensor_mma:TSM=64,WARP_N=32,slices=2"),
      parse_schedule("tensor_mma:TSM=64,TSN=128,STAGES=3,RESIDENT=1"),
  };
  return all;
}

class TensorMma : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (const std::string missing = GetParam().missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    device_ = GetParam().backend->open(GetParam().index, {});
    programs_ = std::make_unique<ProgramCache>(*device_);
    queue_ = device_->create_queue();
    if (const auto reason = unsupported(parse_schedule("tensor_mma"))) {
      GTEST_SKIP() << GetParam().text() << ": " << *reason;
    }
  }

  std::optional<std::string> unsupported(const ScheduleRequest& request) const {
    return unsupported_reason(*request.spec, resolve(*request.spec, request.tunables), device_->info());
  }

  // Twice, which must give the same bits.
  Verdict multiply(const HostProblem& host, const Judge& judge, const ScheduleRequest& request) {
    const Schedule schedule = schedule_for(request, host.problem, device_->info());
    const SelfContainedPlan plan(lower(schedule, host.problem, device_->info()), *device_, *programs_);
    GuardedOperands operands(host, *device_, *queue_);
    plan.enqueue(*queue_, operands.offset_operands());
    Verdict verdict = judge.look_at_all(operands, *queue_);
    operands.restore_c(*queue_);
    plan.enqueue(*queue_, operands.offset_operands());
    EXPECT_EQ(judge.look_at_c(operands, *queue_).fingerprint, verdict.fingerprint);
    return verdict;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<ProgramCache> programs_;
  std::unique_ptr<Queue> queue_;
};

TEST_P(TensorMma, KeepsTheBoundInEveryFormOfTheCall) {
  std::size_t number = 0;
  for (const Problem& form : library_problems({{129, 257, 65}, {300, 515, 140}})) {
    const HostProblem host = bench::fill(form, number);
    const Judge judge(host);
    for (ScheduleRequest request : requests()) {
      for (const Precision precision : {Precision::bf16x6, Precision::f16x3}) {
        HostProblem permitted = host;
        permitted.problem.precision = precision;
        request.slices = may_split(*request.spec, permitted.problem) ? request.slices : 1;
        SCOPED_TRACE(std::string(to_text(precision)) + " " + to_text(request.tunables) + ": " +
                     describe(form));
        if (unsupported(request) || !form.multiplies() || form.level == Reproducibility::everywhere) {
          continue;
        }
        const Verdict verdict = multiply(permitted, judge, request);
        EXPECT_TRUE(verdict.ok() && (number % 4 != 0 || verdict.same_bits()))
            << verdict.worst_error << " bounds: " << verdict.fault();
      }
    }
    ++number;
  }
}

// The hardware has one arithmetic for both on compute capability 9.0; that bits agree is no promise.
TEST_P(TensorMma, ComparesItsBitsWithThoseOfWarpgroups) {
  for (const Precision precision : {Precision::bf16x6, Precision::f16x3}) {
    HostProblem host = random_problem(Problem::packed(384, 256, 1000), Distribution::signed_unit, 1);
    host.problem.precision = precision;
    const Judge judge(host);
    const ScheduleRequest other = parse_schedule("tensor");
    if (unsupported(other)) {
      GTEST_SKIP() << "no warpgroups";
    }
    const bool same = multiply(host, judge, parse_schedule("tensor_mma")).fingerprint ==
                      multiply(host, judge, other).fingerprint;
    std::cout << to_text(precision) << (same ? ": the same bits\n" : ": other bits\n");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorMma, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

}  // namespace
}  // namespace duogemm::testing
