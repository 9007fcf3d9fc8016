// Multiplications that need workspace, on the caller's own OpenCL queues. The plans are
// those of workspace_plan.cpp.
#include <chrono>
#include <latch>
#include <thread>

#include "duogemm/opencl.h"
#include "opencl_caller.h"
#include "product.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

// A product with its matrices on a device.
class OpenClProduct : public Product {
 public:
  OpenClProduct(const OpenClCaller& caller, std::int64_t m, std::int64_t n, std::int64_t k,
                std::uint32_t seed)
      : Product(m, n, k, seed),
        a_(caller.buffer(host().a)),
        b_(caller.buffer(host().b)),
        c_(caller.buffer(host().c)) {}

  void enqueue(const cl::CommandQueue& queue, std::span<const cl_event> wait_for = {}) const {
    opencl::sgemm(queue(), request(), {a_()}, {b_()}, {c_()}, wait_for);
  }
  void enqueue(const cl::CommandQueue& queue, opencl::Workspace workspace,
               std::span<const cl_event> wait_for = {}) const {
    opencl::sgemm(queue(), request(), {a_()}, {b_()}, {c_()}, wait_for, nullptr, workspace);
  }
  // In C. The problem's members are the request's.
  duogemm_status enqueue_in_c(const cl::CommandQueue& queue, const duogemm_problem& problem,
                              opencl::Workspace workspace) const {
    return duogemm_opencl_sgemm_with_workspace(queue(), &problem, a_(), 0, b_(), 0, c_(), 0, 0, nullptr,
                                               nullptr, workspace.buffer, workspace.offset, workspace.bytes);
  }
  std::size_t workspace_bytes(const cl::CommandQueue& queue) const {
    return opencl::sgemm_workspace_bytes(queue(), request());
  }

  std::vector<float> result(const cl::CommandQueue& queue) const {
    std::vector<float> c(host().c.size());
    queue.finish();
    queue.enqueueReadBuffer(c_, CL_TRUE, 0, sizeof(float) * c.size(), c.data());
    return c;
  }
  bool is_right(const cl::CommandQueue& queue) const { return is(result(queue)); }
  bool is_untouched(const cl::CommandQueue& queue) const { return result(queue) == host().c; }

 private:
  cl::Buffer a_;
  cl::Buffer b_;
  cl::Buffer c_;
};

// 24 products, no two of one size.
OpenClProduct product(const OpenClCaller& caller, std::uint32_t number) {
  const std::int64_t size = 17 + 3 * (number % 24);
  return {caller, size, size + 5, size - 6, number};
}

class OpenClWorkspace : public OpenClDeviceTest {};

TEST_P(OpenClWorkspace, IsToldInBytes) {
  const OpenClCaller caller(device_);
  // A and B with leading dimensions of 40 and 24, and two slices' sums, one after the other at multiples of
  // what the device wants.
  const std::size_t told = OpenClProduct(caller, 33, 17, 32, 1).workspace_bytes(caller.queue);
  EXPECT_GE(told, sizeof(float) * (40 * 32 + 24 * 32 + 2 * 36 * 17));
  EXPECT_LE(told, sizeof(float) * (40 * 32 + 24 * 32 + 2 * 36 * 17) + 2 * 4096);
  EXPECT_EQ(OpenClProduct(caller, 32, 16, 48, 1).workspace_bytes(caller.queue), 0u);
  EXPECT_EQ(opencl::sgemm_workspace_bytes(caller.queue(), {}), 0u);
  EXPECT_EQ(opencl::sgemm_batched_workspace_bytes(caller.queue(), {}), 0u);
  EXPECT_EQ(refusal([] { opencl::sgemm_workspace_bytes(nullptr, {}); }), "queue is null");
  EXPECT_EQ(refusal([&] { opencl::sgemm_workspace_bytes(caller.queue(), {.m = -1}); }),
            "m is -1; it must be at least 0");
}

// Eight threads, each of which enqueues all its products before it waits for any, so that their calls meet on
// the queue.
TEST_P(OpenClWorkspace, ThreadsOnOneQueueOutOfOrder) {
  if (device_.getInfo<CL_DEVICE_VENDOR>().starts_with("NVIDIA")) {
    GTEST_SKIP()
        << "NVIDIA's driver crashes now and then when threads share such a queue: see docs/limits.md";
  }
  const OpenClCaller caller(device_, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::latch ready(8);
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<OpenClProduct> products;
      for (std::uint32_t i = 0; i < 24; ++i) {
        products.push_back(product(caller, 24 * t + i));
      }
      ready.arrive_and_wait();
      for (const OpenClProduct& p : products) {
        p.enqueue(caller.queue);
      }
      for (const OpenClProduct& p : products) {
        EXPECT_TRUE(p.is_right(caller.queue));
      }
    });
  }
}

// The queues are released with their commands on the way.
TEST_P(OpenClWorkspace, ManyQueuesOneAfterTheOther) {
  const OpenClCaller caller(device_);
  std::vector<OpenClProduct> products;
  std::vector<cl::Event> done(200);
  for (std::uint32_t i = 0; i < done.size(); ++i) {
    products.push_back(product(caller, i));
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    const cl::CommandQueue queue(caller.context, device_);
    products[i].enqueue(queue);
    queue.enqueueMarkerWithWaitList(nullptr, &done[i]);
    queue.flush();
  }
  cl::Event::waitForEvents(done);
  for (const OpenClProduct& p : products) {
    EXPECT_TRUE(p.is_right(caller.queue));
  }
}

TEST_P(OpenClWorkspace, GrowsWhileEarlierCallsWaitForTheirTurn) {
  const OpenClCaller caller(device_);
  const OpenClProduct products[] = {
      {caller, 201, 203, 205, 1}, {caller, 301, 303, 305, 2}, {caller, 401, 403, 405, 3}};
  cl::UserEvent gate(caller.context);
  const cl_event wait = gate();
  for (const OpenClProduct& p : products) {
    p.enqueue(caller.queue, {&wait, 1});
  }
  gate.setStatus(CL_COMPLETE);
  for (const OpenClProduct& p : products) {
    EXPECT_TRUE(p.is_right(caller.queue));
  }
}

// --- Supplied by the caller ------------------------------------------------------------------------------

std::vector<int> now_in(const cl::Buffer& buffer, std::size_t bytes, const OpenClCaller& caller) {
  std::vector<int> words(bytes / sizeof(int));
  caller.read(buffer, words);
  return words;
}

constexpr std::size_t place = 8192;  // is aligned enough on any device

TEST_P(OpenClWorkspace, MayBeInASubBuffer) {
  const OpenClCaller caller(device_);
  const OpenClProduct p = product(caller, 4);
  const std::size_t needed = p.workspace_bytes(caller.queue);
  const std::size_t size = 4 * place + needed;
  cl::Buffer canvas = caller.buffer(painted(size));
  const cl_buffer_region region{place, place + needed};
  const cl::Buffer part = canvas.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
  p.enqueue(caller.queue, {part(), place, needed});
  EXPECT_TRUE(p.is_right(caller.queue));
  EXPECT_TRUE(changed_within(now_in(canvas, size, caller), 2 * place, 2 * place + needed));
}

TEST_P(OpenClWorkspace, OfTheCallerIsRefusedWhenItDoesNotDo) {
  const OpenClCaller caller(device_);
  const OpenClCaller other(device_);
  const OpenClProduct p = product(caller, 5);
  const std::size_t needed = p.workspace_bytes(caller.queue);
  const std::size_t size = place + needed;
  const cl::Buffer memory(caller.context, CL_MEM_READ_WRITE, size);
  const cl::Buffer foreign(other.context, CL_MEM_READ_WRITE, size);
  const cl::Buffer to_read(caller.context, CL_MEM_READ_ONLY, size);
  const auto refused = [&](opencl::Workspace workspace) {
    return refusal([&] { p.enqueue(caller.queue, workspace); });
  };
  const std::string need = "the problem needs " + std::to_string(needed);
  EXPECT_EQ(refused({}), "workspace is null; " + need + " bytes");
  EXPECT_EQ(refused({memory(), 0, needed - 1}),
            "workspace has " + std::to_string(needed - 1) + " bytes; " + need);
  EXPECT_EQ(refused({memory(), place, needed + 1}), "workspace has " + std::to_string(size) +
                                                        " bytes; its offset 8192 and " +
                                                        std::to_string(needed + 1) + " bytes reach beyond");
  EXPECT_EQ(refused({memory(), ~std::size_t{0}, needed}), "workspace has " + std::to_string(size) +
                                                              " bytes; its offset 18446744073709551615 and " +
                                                              std::to_string(needed) + " bytes reach beyond");
  EXPECT_EQ(refused({memory(), 64, needed}).find("workspace is aligned to 64 bytes; it must be aligned to "),
            0u);
  EXPECT_EQ(refused({foreign(), 0, needed}), "workspace belongs to another context than the queue");
  EXPECT_EQ(refused({to_read(), 0, needed}), "workspace is not for kernels to write");
  EXPECT_TRUE(p.is_untouched(caller.queue));
  EXPECT_EQ(refused({memory(), place, needed}), "accepted");
  EXPECT_TRUE(p.is_right(caller.queue));
}

// Not even the wait for the caller's events.
TEST_P(OpenClWorkspace, LeavesNothingOnTheQueueWhenItIsRefused) {
  const OpenClCaller caller(device_);
  cl::UserEvent gate(caller.context);
  const cl_event wait = gate();
  EXPECT_NE(refusal([&] { product(caller, 5).enqueue(caller.queue, {}, {&wait, 1}); }), "accepted");
  cl::Event marker;
  caller.queue.enqueueMarkerWithWaitList(nullptr, &marker);
  caller.queue.flush();
  const auto complete = [&] { return marker.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE; };
  for (int i = 0; i < 500 && !complete(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(complete());
  gate.setStatus(CL_COMPLETE);
}

TEST_P(OpenClWorkspace, OfABatch) {
  const OpenClCaller caller(device_);
  const cl::Buffer ones = caller.buffer(std::vector<float>(8, 1.0f));
  const cl::Buffer c = caller.buffer(std::vector<float>(8, 0.0f));
  const cl::Buffer offsets = caller.buffer(std::vector<std::int64_t>{4, 0});
  const cl::Buffer memory(caller.context, CL_MEM_READ_WRITE, 1000);
  const Sgemm request{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .batch = 2};
  EXPECT_EQ(opencl::sgemm_batched_workspace_bytes(caller.queue(), request), 1000u);
  const auto call = [&](std::size_t bytes) {
    return refusal([&] {
      opencl::sgemm_batched(caller.queue(), request, {ones()}, {ones()}, {c()},
                            {offsets(), offsets(), offsets()}, {}, nullptr,
                            opencl::Workspace{memory(), 0, bytes});
    });
  };
  EXPECT_EQ(call(999), "workspace has 999 bytes; the problem needs 1000");
  EXPECT_EQ(call(1000), "accepted");
  std::vector<float> result(8);
  caller.read(c, result);
  EXPECT_EQ(result, std::vector<float>(8, 2.0f));
}

TEST_P(OpenClWorkspace, InC) {
  const OpenClCaller caller(device_);
  const OpenClProduct p(caller, 33, 17, 9, 8);
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.lda = problem.ldc = 33;
  problem.n = 17;
  problem.k = problem.ldb = 9;
  problem.alpha = 2.5f;
  problem.beta = 0.5f;
  std::size_t needed = 0;
  ASSERT_EQ(duogemm_opencl_sgemm_workspace_bytes(caller.queue(), &problem, &needed), DUOGEMM_SUCCESS);
  EXPECT_EQ(needed, p.workspace_bytes(caller.queue));
  EXPECT_EQ(duogemm_opencl_sgemm_workspace_bytes(caller.queue(), &problem, nullptr),
            DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "bytes is null");
  const std::size_t size = 3 * place + needed;
  const cl::Buffer canvas = caller.buffer(painted(size));
  EXPECT_EQ(p.enqueue_in_c(caller.queue, problem, {canvas(), place, needed - 1}), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_TRUE(p.is_untouched(caller.queue));
  ASSERT_EQ(p.enqueue_in_c(caller.queue, problem, {canvas(), place, needed}), DUOGEMM_SUCCESS)
      << duogemm_last_error();
  EXPECT_TRUE(p.is_right(caller.queue));
  EXPECT_TRUE(changed_within(now_in(canvas, size, caller), place, place + needed));
}

INSTANTIATE_TEST_SUITE_P(Devices, OpenClWorkspace, ::testing::Range<std::size_t>(0, OpenClWorkspace::count()),
                         [](const auto& info) { return "opencl" + std::to_string(info.param); });

}  // namespace
}  // namespace duogemm::testing
