// The device fails: on a device in memory, every operation in turn fails, and from every
// operation on the device is lost. The right error comes out, nothing is left over, the next call works.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/c_api.h"
#include "fake_device.h"
#include "processes.h"
#include "runtime/runtime.h"
#include "workspace_plan.h"

namespace duogemm::testing {
namespace {

// The faults of the device that the backend opens.
Faults* backend_faults = nullptr;

class FakeBackend final : public Backend {
 public:
  std::string_view name() const override { return "fake"; }
  std::vector<DeviceInfo> devices() const override { return std::vector<DeviceInfo>(1); }
  std::unique_ptr<Device> open(std::size_t, const DeviceOptions&) const override {
    backend_faults->pass(Operation::open);
    return std::make_unique<FakeDevice>(*backend_faults);
  }
};

// A user of the library, with what it keeps between calls: the call, which throws when the device fails.
using User = std::function<void()>;

// Makes a Context in its first call that gets so far, and multiplies twice, with larger operands at last.
User use_context(Faults& faults) {
  backend_faults = &faults;
  return [context = std::shared_ptr<Context>()]() mutable {
    if (!context) {
      context = std::make_shared<Context>("fake:0");
    }
    const auto multiply_ones = [&](std::int64_t size, float beta) {
      const std::vector<float> ones(static_cast<std::size_t>(size * size), 1.0f);
      std::vector<float> c = ones;
      const Sgemm request{
          .m = size, .n = size, .k = size, .beta = beta, .lda = size, .ldb = size, .ldc = size};
      context->sgemm(request, ones.data(), ones.data(), c.data());
      return c;
    };
    EXPECT_EQ(multiply_ones(2, 0.0f), std::vector<float>(4, 2.0f));
    EXPECT_EQ(multiply_ones(3, 1.0f), std::vector<float>(9, 4.0f));
  };
}

// The same on a device that works on the host's memory.
User use_context_in_place(Faults& faults) {
  faults.in_place = true;
  return use_context(faults);
}

// Runs plans that need workspace in memory kept for a queue, the second time with more of it.
class QueueUser {
 public:
  explicit QueueUser(Faults& faults)
      : faults_(faults), device_(faults), programs_(device_, DiskCache({})), workspaces_(device_) {
    faults.idle = true;
  }

  void call() {
    const std::unique_ptr<Queue> queue = device_.create_queue();
    enqueue(33, *queue);
    enqueue(65, *queue);
    queue->finish();
  }

 private:
  // When there is no memory, nothing has been launched.
  void enqueue(std::int64_t size, Queue& queue) {
    const Plan plan = workspace_plan(Problem::packed(size, size, 33), device_.info());
    const auto prepared = std::make_shared<const PreparedPlan>(plan, device_, programs_);
    const FakeBuffer matrix(faults_, sizeof(float));
    const std::size_t launched = faults_.launched.size();
    try {
      workspaces_.enqueue(prepared, queue, {{{&matrix}, {&matrix}, {&matrix}}}, {}, {});
    } catch (...) {
      EXPECT_TRUE(faults_.failed != Operation::allocate || faults_.launched.size() == launched);
      throw;
    }
    EXPECT_EQ(faults_.launched.size(), launched + plan.steps.size());
  }

  Faults& faults_;
  FakeDevice device_;
  ProgramCache programs_;
  QueueWorkspaces workspaces_;
};

User use_queue(Faults& faults) {
  return [user = std::make_shared<QueueUser>(faults)] { user->call(); };
}

// The outcome of a call, as the C functions tell it.
struct Answer {
  duogemm_status status;
  std::string message;
  bool operator==(const Answer&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << answer.status << " '" << answer.message << "'";
}

const Answer success{DUOGEMM_SUCCESS, ""};
const Answer host_memory_exhausted{DUOGEMM_OUT_OF_MEMORY, "host memory is exhausted"};

Answer answer_to(const std::function<void()>& call) {
  const duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  const duogemm_status status = call_from_c(&problem, [&](const Sgemm&) { call(); });
  return {status, status == DUOGEMM_SUCCESS ? "" : duogemm_last_error()};
}

struct Usage {
  const char* name;
  User (*begin)(Faults&);
  std::set<Operation> operations;  // that its call consists of
};

class DeviceFaults : public ::testing::TestWithParam<Usage> {
 protected:
  // Makes three calls for each set of faults, with the n-th operation at fault, until there is no n-th.
  // `after`: what the second and third call answer.
  static void try_all(const std::function<Faults(int n)>& faults_at,
                      const std::function<Answer(Operation failed)>& first, const Answer& after) {
    std::set<Operation> failed;
    for (int n = 1;; ++n) {
      SCOPED_TRACE("operation " + std::to_string(n));
      Faults faults = faults_at(n);
      {
        const User user = GetParam().begin(faults);
        const auto call = [&] { return answer_to(user); };
        const Answer answer = call();
        if (!faults.failed) {
          EXPECT_EQ(answer, success);
          break;
        }
        failed.insert(*faults.failed);
        EXPECT_EQ(answer, first(*faults.failed));
        EXPECT_EQ(call(), after);
        EXPECT_EQ(call(), after);
      }
      EXPECT_EQ(faults.live_buffers, 0);
      EXPECT_EQ(faults.live_others, 0);
    }
    EXPECT_EQ(failed, GetParam().operations);
  }
};

Answer failure_of(Operation operation) {
  switch (operation) {
    case Operation::allocate:
      return {DUOGEMM_OUT_OF_MEMORY, "failed"};
    case Operation::compile:
      return {DUOGEMM_BUILD_FAILED, "failed"};
    default:
      return {DUOGEMM_DEVICE_ERROR, "failed"};
  }
}

TEST_P(DeviceFaults, OneOperationFails) {
  try_all([](int n) { return Faults{.fails_at = n}; }, failure_of, success);
}

TEST_P(DeviceFaults, HostMemoryRunsOutInOneOperation) {
  try_all([](int n) { return Faults{.fails_at = n, .host_memory = true}; },
          [](Operation) { return host_memory_exhausted; }, success);
}

// As the objects of a lost device are destroyed, nothing is thrown: it would end the program.
TEST_P(DeviceFaults, TheDeviceIsLost) {
  Answer lost{DUOGEMM_DEVICE_ERROR, "lost"};
  try_all([](int n) { return Faults{.lost_from = n}; }, [&](Operation) { return lost; }, lost);
}

INSTANTIATE_TEST_SUITE_P(
    Users, DeviceFaults,
    ::testing::Values(Usage{"context",
                            use_context,
                            {Operation::open, Operation::create_queue, Operation::allocate, Operation::write,
                             Operation::compile, Operation::launch, Operation::finish, Operation::read}},
                      Usage{"context_in_place",
                            use_context_in_place,
                            {Operation::open, Operation::create_queue, Operation::compile, Operation::launch,
                             Operation::finish}},
                      Usage{"queue_workspaces",
                            use_queue,
                            {Operation::create_queue, Operation::compile, Operation::allocate,
                             Operation::launch, Operation::finish}}),
    [](const auto& info) { return info.param.name; });

// --- A fork ----------------------------------------------------------------------------------------------

TEST(ForkedUser, AsksNothingOfTheDevice) {
  Faults faults;
  User user = use_context(faults);
  user();
  const Faults before = faults;
  expect_in_processes(1, [&](int) {
    const Answer answer = answer_to(user);
    user = {};
    return answer.status == DUOGEMM_UNSUPPORTED && faults.operations == before.operations &&
           faults.live_buffers == before.live_buffers && faults.live_others == before.live_others;
  });
  EXPECT_EQ(answer_to(user), success);
}

// --- The C functions -------------------------------------------------------------------------------------

TEST(CallFromC, AnswersWhatWasThrown) {
  const std::pair<std::function<void()>, Answer> thrown[] = {
      {[] { throw Error(Status::invalid_argument, "why"); }, {DUOGEMM_INVALID_ARGUMENT, "why"}},
      {[] { throw Error(Status::unsupported, "why"); }, {DUOGEMM_UNSUPPORTED, "why"}},
      {[] { throw Error(Status::out_of_memory, "why"); }, {DUOGEMM_OUT_OF_MEMORY, "why"}},
      {[] { throw Error(Status::build_failed, "why"); }, {DUOGEMM_BUILD_FAILED, "why"}},
      {[] { throw Error(Status::device_error, "why"); }, {DUOGEMM_DEVICE_ERROR, "why"}},
      {[] { throw std::bad_alloc(); }, host_memory_exhausted},
      {[] { throw std::logic_error("foreign"); }, {DUOGEMM_DEVICE_ERROR, "foreign"}},
      {[] { throw 1; }, {DUOGEMM_DEVICE_ERROR, "unknown error"}}};
  for (const auto& [call, answer] : thrown) {
    EXPECT_EQ(answer_to(call), answer);
    EXPECT_EQ(answer_to([] {}), success);
  }
}

TEST(CallFromC, IsNotCalledWithoutAProblem) {
  bool called = false;
  EXPECT_EQ(call_from_c(nullptr, [&](const Sgemm&) { called = true; }), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace duogemm::testing

// In place of those of the build.
const std::vector<const duogemm::Backend*>& duogemm::backends() {
  static const testing::FakeBackend fake;
  static const std::vector<const Backend*> all = {&fake};
  return all;
}
