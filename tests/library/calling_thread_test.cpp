// The kernels for CPUs as the host's own compiler makes them, run on the calling thread and on others that
// help it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "check/inputs.h"
#include "check/oracle.h"
#include "cpu_backend.h"
#include "cpu_programs.h"
#include "devices.h"
#include "plan/lower.h"
#include "runtime/runtime.h"

namespace duogemm::testing {
namespace {

constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 48, 50, 65, 97};

// With columns that have gaps between them.
Problem with_gaps(std::int64_t m, std::int64_t n, std::int64_t k, const char* ops, float beta) {
  Problem p = problem_of(m, n, k, ops, 3);
  p.alpha = 1.5f;
  p.beta = beta;
  return p;
}

constexpr const char* all_ops[] = {"NN", "NT", "TN", "TT"};

class CallingThread : public ::testing::TestWithParam<std::tuple<DeviceInfo, std::size_t>> {
 protected:
  void SetUp() override {
    runtime_ = std::make_unique<Runtime>(
        cpu_backend().open(info_.index, {.threads = std::get<1>(GetParam())}), DiskCache({}));
  }

  Verdict multiply(const Problem& p, const HostProblem& host) {
    Device& device = runtime_->device();
    std::vector<float> found = host.c;
    const auto a = device.wrap(host.a.data());
    const auto b = device.wrap(host.b.data());
    const auto c = device.wrap(found.data());
    runtime_->enqueue(p, *device.create_queue(), {{{a.get()}, {b.get()}, {c.get()}}});
    return Oracle(p, host.a, host.b, host.c).compare(found);
  }

  void check(Problem p) {
    const HostProblem host = random_problem(p, Distribution::signed_unit, static_cast<std::uint32_t>(p.m));
    EXPECT_TRUE(multiply(p, host).ok()) << p.m << " " << p.n << " " << p.k;
    p.level = Reproducibility::everywhere;
    EXPECT_TRUE(multiply(p, host).exact()) << p.m << " " << p.n << " " << p.k;
  }

  const DeviceInfo info_ = std::get<0>(GetParam());
  std::unique_ptr<Runtime> runtime_;
};

TEST_P(CallingThread, ComputesTheOwedBits) {
  for (const std::int64_t m : sizes) {
    for (const std::int64_t n : sizes) {
      for (std::size_t ops = 0; ops < 4 && std::max(m, n) >= 4; ++ops) {
        const std::int64_t k = sizes[(static_cast<std::size_t>(m + n) + ops) % std::size(sizes)];
        check(with_gaps(m, n, k, all_ops[ops], ops % 2 == 0 ? 0.0f : 0.5f));
      }
    }
  }
}

// Columns of a transposed B are far apart, or K is longer than what is packed at once.
TEST_P(CallingThread, ComputesTheOwedBitsOfLongSums) {
  for (const char* ops : all_ops) {
    check(with_gaps(5, 300, 900, ops, 0.5f));
    check(with_gaps(60, 300, 1100, ops, 0.5f));
    check(with_gaps(1, 40, 2000, ops, 0.0f));
  }
}

// Each program is one that the planner chooses, and it chooses no other, for whatever is as large as the
// library asks of it (see host_in_place.cpp).
TEST_P(CallingThread, HasThePrograms) {
  const Planner& planner = planner_for(runtime_->device().info());
  std::set<std::string> chosen;
  for (const std::int64_t m : {1, 2, 3, 4, 5, 7, 8, 40, 300, 2000}) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 40, 300, 2000}) {
      for (const std::int64_t k : {1, 40, 1000}) {
        for (const char* ops : all_ops) {
          if (std::max(m, n) < 4) {
            continue;
          }
          for (const auto level : {Reproducibility::run_to_run, Reproducibility::everywhere}) {
            Problem p = with_gaps(m, n, k, ops, 0.0f);
            p.level = level;
            const Variant& kernel = *plan_sgemm(p, planner).steps.at(0).kernel;
            chosen.insert(kernel.spec->name + " " + to_text(kernel.tunables));
          }
        }
      }
    }
  }
  std::set<std::string> there;
  for (const CpuProgram& program : cpu_programs()[info_.index].programs) {
    there.emplace(program.name);
  }
  for (const std::string& name : chosen) {
    EXPECT_TRUE(there.contains(name)) << name << " is missing";
  }
  for (const std::string& name : there) {
    EXPECT_TRUE(chosen.contains(name)) << name << " is not needed";
  }
}

// A developer's own text of a kernel is not what was compiled with the library.
TEST_P(CallingThread, TakesProgramsForTheLibrarysOwnTextsAlone) {
  Device& device = runtime_->device();
  const Plan plan = plan_sgemm(with_gaps(40, 40, 40, "NN", 0.0f), planner_for(device.info()));
  ProgramSource source = program_source(*plan.steps.at(0).kernel);
  EXPECT_NE(device.find_built(source), nullptr);
  source.embedded = false;
  EXPECT_EQ(device.find_built(source), nullptr);
}

// None where the build has no programs for this processor.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CallingThread);
INSTANTIATE_TEST_SUITE_P(, CallingThread,
                         ::testing::Combine(::testing::ValuesIn(cpu_backend().devices()),
                                            ::testing::Values<std::size_t>(1, 3)),
                         [](const auto& info) {
                           return "vectors_of_" + std::to_string(std::get<0>(info.param).vector_floats) +
                                  "_threads_" + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace duogemm::testing
