// The memory for intermediate results, on a device in memory: whose it is, how long it is kept, who may share
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "fake_device.h"
#include "plan/select.h"
#include "processes.h"
#include "refusal.h"
#include "runtime/runtime.h"
#include "workspace_plan.h"

namespace duogemm::testing {
namespace {

TEST(WorkspaceLayout, PartsAreAlignedAndApart) {
  Plan plan;
  plan.workspace_bytes = {4, 256, 257, 4};
  const auto begins = [&](std::size_t slice_alignment) {
    DeviceInfo info;
    info.slice_alignment = slice_alignment;
    std::vector<std::size_t> found;
    const WorkspaceLayout layout = lay_out_workspaces(plan, info);
    for (const WorkspaceLayout::Part& part : layout.parts) {
      found.push_back(part.begin);
    }
    found.push_back(layout.bytes);
    return found;
  };
  EXPECT_EQ(begins(1), (std::vector<std::size_t>{0, 256, 512, 1024, 1028}));
  EXPECT_EQ(begins(512), (std::vector<std::size_t>{0, 512, 1024, 1536, 1540}));
}

TEST(WorkspaceMemory, HasRoomForProblemsThatGrow) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  DeviceInfo info;
  EXPECT_EQ(roomy(1, info), 4 * mib);
  EXPECT_EQ(roomy(5 * mib, info), 8 * mib);
  EXPECT_EQ(roomy(300 * mib + 4, info), 300 * mib + 4);
  info.memory_bytes = 80'000'000'000;
  EXPECT_EQ(roomy(1, info), 32 * mib);
  EXPECT_EQ(roomy(33 * mib, info), 64 * mib);
}

using Prepared = std::shared_ptr<const PreparedPlan>;

class Workspaces : public ::testing::Test {
 protected:
  // A plan of three steps.
  Prepared plan(std::int64_t size) { return prepared(workspace_plan(square(size), device_.info())); }
  static Problem square(std::int64_t size) { return Problem::packed(size, size, size); }
  Prepared prepared(const Plan& plan) {
    return std::make_shared<const PreparedPlan>(plan, device_, programs_);
  }

  void enqueue(const Prepared& plan, Queue& queue, const std::optional<LentWorkspace>& lent = {}) {
    workspaces_.enqueue(plan, queue, {{{&matrix_}, {&matrix_}, {&matrix_}}}, {}, lent);
  }

  std::string refusal(const Prepared& plan, Queue& queue, const std::optional<LentWorkspace>& lent = {}) {
    const std::size_t launched = faults_.launched.size();
    const int live = faults_.live_buffers;
    const std::string said = testing::refusal([&] { enqueue(plan, queue, lent); });
    if (said != "accepted") {
      EXPECT_EQ(faults_.launched.size(), launched);
      EXPECT_EQ(faults_.live_buffers, live);
    }
    return said;
  }

  // Gives where the workspaces of the launches since the last time begin.
  std::set<const float*> take_used() {
    std::set<const float*> used;
    for (const Launch& launch : faults_.launched) {
      used.insert(launch.begins.begin(), launch.begins.end());
    }
    used.erase(matrix_.data());
    faults_.launched.clear();
    return used;
  }
  std::set<const float*> used_by(const Prepared& plan, Queue& queue) {
    faults_.launched.clear();
    enqueue(plan, queue);
    return take_used();
  }

  // That a call launches its three steps and does nothing else with the device.
  void expect_warm(const Prepared& plan, Queue& queue) {
    const int before = faults_.operations;
    enqueue(plan, queue);
    EXPECT_EQ(faults_.operations, before + 3);
  }

  int pieces() const { return faults_.live_buffers - 1; }  // the matrix is one

  Faults faults_{.idle = true};
  FakeDevice device_{faults_};
  ProgramCache programs_{device_, DiskCache({})};
  const FakeBuffer matrix_{faults_, sizeof(float)};
  QueueWorkspaces workspaces_{device_};
};

// In one piece.
TEST_F(Workspaces, StayWithTheQueueAndGrow) {
  FakeQueue queue(faults_);
  const Prepared small = plan(33);
  const Prepared large = plan(1025);
  const std::set<const float*> first = used_by(small, queue);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(pieces(), 1);
  expect_warm(small, queue);
  EXPECT_EQ(used_by(small, queue), first);
  const std::set<const float*> of_large = used_by(large, queue);
  EXPECT_EQ(pieces(), 1);
  expect_warm(small, queue);
  const std::set<const float*> of_small = used_by(small, queue);
  EXPECT_EQ(*of_small.begin(), *of_large.begin());
  EXPECT_NE(of_small, of_large);
  expect_warm(large, queue);
  EXPECT_EQ(used_by(large, queue), of_large);
}

TEST_F(Workspaces, OfAWarmQueueAreThereBeforeItsFirstCall) {
  FakeQueue queue(faults_);
  workspaces_.warm(queue);
  EXPECT_EQ(pieces(), 1);
  EXPECT_TRUE(faults_.launched.empty());
  const Prepared p = plan(33);
  expect_warm(p, queue);
  const std::set<const float*> used = used_by(p, queue);
  workspaces_.warm(queue);
  expect_warm(p, queue);
  EXPECT_EQ(used_by(p, queue), used);
}

// A queue out of order could otherwise begin a call while the one before is at work.
TEST_F(Workspaces, AreBehindABarrier) {
  FakeQueue queue(faults_);
  const Prepared p = plan(33);
  enqueue(p, queue);
  enqueue(p, queue);
  for (const Launch& launch : faults_.launched) {
    EXPECT_TRUE(launch.after_barrier);
  }
}

TEST_F(Workspaces, AreAsTheyWereWhenMoreCannotBeAllocated) {
  FakeQueue queue(faults_);
  const Prepared small = plan(33);
  const Prepared large = plan(1025);
  const std::set<const float*> first = used_by(small, queue);
  faults_.fails_at = faults_.operations + 1;
  EXPECT_THROW(enqueue(large, queue), Error);
  EXPECT_EQ(faults_.failed, Operation::allocate);
  EXPECT_TRUE(faults_.launched.empty());
  expect_warm(small, queue);
  EXPECT_EQ(used_by(small, queue), first);
  enqueue(large, queue);
  expect_warm(large, queue);
}

// The memory may be the reason: OpenCL may allocate it when it is first used.
TEST_F(Workspaces, AreGivenUpWhenALaunchFails) {
  FakeQueue queue(faults_);
  const Prepared small = plan(33);
  const Prepared large = plan(1025);
  enqueue(small, queue);
  faults_.fails_at = faults_.operations + 2;
  EXPECT_THROW(enqueue(large, queue), Error);
  EXPECT_EQ(faults_.failed, Operation::launch);
  EXPECT_EQ(pieces(), 0);
  enqueue(small, queue);
  expect_warm(small, queue);
}

constexpr int most = static_cast<int>(QueueWorkspaces::most_queues);

TEST_F(Workspaces, AreKeptForTheQueuesUsedLast) {
  const Prepared p = plan(33);
  FakeQueue favourite(faults_);
  enqueue(p, favourite);
  std::deque<FakeQueue> queues;  // that live, so that none has the handle of another
  for (int i = 0; i < 4 * most; ++i) {
    enqueue(p, queues.emplace_back(faults_));
    expect_warm(p, favourite);
    EXPECT_LE(pieces(), most);
  }
  EXPECT_EQ(pieces(), most);
}

// While a call launches its steps, many others come by.
TEST_F(Workspaces, StayWithACallAtWork) {
  const Prepared p = plan(33);
  FakeQueue busy(faults_);
  std::deque<FakeQueue> queues;
  busy.before_launch = [&] {
    for (int i = 0; i < most; ++i) {
      enqueue(p, queues.emplace_back(faults_));
    }
  };
  enqueue(p, busy);
  busy.before_launch = [] {};
  expect_warm(p, busy);
}

TEST_F(Workspaces, AreNotInheritedByAQueueWithTheHandleOfAnother) {
  const Prepared p = plan(33);
  FakeQueue gone(faults_);
  gone.now.serial = 1;
  enqueue(p, gone);
  FakeQueue later(faults_);
  later.now = {gone.now.handle, 2};
  const int before = faults_.operations;
  enqueue(p, later);
  EXPECT_EQ(faults_.operations, before + 4);  // memory of its own
  EXPECT_EQ(pieces(), 1);
}

TEST_F(Workspaces, ThreadsOnOneQueueDoNotMixTheirSteps) {
  FakeQueue queue(faults_);
  queue.before_launch = [] { std::this_thread::yield(); };
  const Prepared plans[] = {plan(33), plan(65)};
  std::vector<float> memory(plans[1]->workspace_bytes() / sizeof(float));
  const FakeBuffer lent(faults_, memory);
  EXPECT_TRUE(in_threads(8, [&](int thread) {
    for (int i = 0; i < 50; ++i) {
      enqueue(plans[i % 2], queue,
              thread < 4 ? std::optional(LentWorkspace{&lent, 0, lent.bytes()}) : std::nullopt);
    }
    return true;
  }));
  ASSERT_EQ(faults_.launched.size(), 8u * 50 * 3);
  for (std::size_t i = 0; i < faults_.launched.size(); ++i) {
    ASSERT_EQ(faults_.launched[i].thread, faults_.launched[i / 3 * 3].thread) << i;
  }
}

// --- Capture in a CUDA graph -----------------------------------------------------------------------------

// The graph may run beside what is put on the queue later.
TEST_F(Workspaces, OfACaptureAreTheGraphs) {
  FakeQueue queue(faults_);
  queue.now.serial = 7;
  const Prepared p = plan(33);
  const std::set<const float*> own = used_by(p, queue);
  queue.now = {queue.now.handle, std::nullopt, true};  // a stream that is captured does not tell its number
  const std::set<const float*> captured = used_by(p, queue);
  ASSERT_EQ(queue.in_graph.size(), 1u);
  const FakeBuffer& memory = *queue.in_graph.front();
  EXPECT_GE(memory.bytes(), p->workspace_bytes());
  EXPECT_LT(memory.bytes(), 2 * p->workspace_bytes());
  EXPECT_EQ(captured.size(), own.size());
  for (const float* begin : captured) {
    EXPECT_GE(begin, memory.data());
    EXPECT_LT(begin, memory.data() + memory.bytes() / sizeof(float));
  }
  queue.now = {queue.now.handle, 7, false};
  EXPECT_EQ(used_by(p, queue), own);
  const FakeBuffer lent(faults_, p->workspace_bytes());
  queue.now.capturing = true;
  enqueue(p, queue, LentWorkspace{&lent, 0, lent.bytes()});
  EXPECT_EQ(queue.in_graph.size(), 1u);
}

// Freeing memory waits for the device, which no capture survives.
TEST_F(Workspaces, AreNotGivenUpInACapture) {
  const Prepared p = plan(33);
  std::deque<FakeQueue> queues;
  for (int i = 0; i < most; ++i) {
    enqueue(p, queues.emplace_back(faults_));
  }
  const FakeBuffer lent(faults_, p->workspace_bytes());
  const int before = faults_.live_buffers;
  for (int i = 0; i < 3; ++i) {
    FakeQueue& captured = queues.emplace_back(faults_);
    captured.now.capturing = true;
    enqueue(p, captured, LentWorkspace{&lent, 0, lent.bytes()});
    EXPECT_EQ(faults_.live_buffers, before);
  }
  for (int i = 0; i < 5; ++i) {
    enqueue(p, queues.emplace_back(faults_));
  }
  EXPECT_LE(faults_.live_buffers, before);
}

// --- Memory that the caller lends ------------------------------------------------------------------------

TEST_F(Workspaces, AreInTheMemoryLent) {
  FakeQueue queue(faults_);
  const Prepared p = plan(33);
  FakeBuffer memory(faults_, p->workspace_bytes() + 1024);
  enqueue(p, queue, LentWorkspace{&memory, 1024, p->workspace_bytes()});
  EXPECT_EQ(pieces(), 1);
  const std::set<const float*> used = take_used();
  EXPECT_EQ(*used.begin(), memory.data() + 1024 / sizeof(float));
  EXPECT_EQ(used.size(), 3u);
}

TEST_F(Workspaces, RefuseMemoryThatDoesNotDo) {
  FakeQueue queue(faults_);
  const Prepared p = plan(33);
  const std::size_t needed = p->workspace_bytes();
  const FakeBuffer memory(faults_, needed + 1024);
  const auto lend = [&](std::size_t begin, std::size_t bytes) {
    return refusal(p, queue, LentWorkspace{&memory, begin, bytes});
  };
  const std::string need = "the problem needs " + std::to_string(needed);
  EXPECT_EQ(lend(0, needed - 1), "workspace has " + std::to_string(needed - 1) + " bytes; " + need);
  EXPECT_EQ(lend(0, 0), "workspace has 0 bytes; " + need);
  EXPECT_EQ(lend(256, needed), "workspace is aligned to 256 bytes; it must be aligned to 512");
  EXPECT_EQ(lend(516, needed), "workspace is aligned to 4 bytes; it must be aligned to 512");
  EXPECT_EQ(refusal(p, queue, LentWorkspace{}), "workspace is null; " + need + " bytes");
  EXPECT_EQ(lend(512, needed), "accepted");
}

}  // namespace
}  // namespace duogemm::testing
