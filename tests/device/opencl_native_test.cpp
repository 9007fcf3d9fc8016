// SGEMM on the caller's own OpenCL context, queue, buffers and events.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "devices.h"
#include "draw.h"
#include "duogemm/opencl.h"
#include "grouped_product.h"
#include "opencl_backend.h"
#include "opencl_caller.h"
#include "opencl_device.h"
#include "pocl.h"
#include "random_sgemm.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

void check(const OpenClCaller& caller, std::uint32_t seed, bool batched = false, bool narrow = false) {
  const auto check_random = narrow ? check_random_narrow_sgemm : check_random_sgemm;
  check_random(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
    const cl::Buffer device_a = caller.buffer(a.array);
    const cl::Buffer device_b = caller.buffer(b.array);
    const cl::Buffer device_c = caller.buffer(c.array);
    const opencl::Matrix in_a{device_a(), a.begin}, in_b{device_b(), b.begin}, in_c{device_c(), c.begin};
    if (batched) {
      const cl::Buffer table_a = caller.buffer(a.offsets(request.batch));
      const cl::Buffer table_b = caller.buffer(b.offsets(request.batch));
      const cl::Buffer table_c = caller.buffer(c.offsets(request.batch));
      opencl::sgemm_batched(caller.queue(), request, in_a, in_b, in_c, {table_a(), table_b(), table_c()});
      caller.read(device_c, c.array);
    } else {
      opencl::sgemm(caller.queue(), request, in_a, in_b, in_c);
      caller.read(device_c, c.array);
    }
  });
}

class OpenClNative : public OpenClDeviceTest {
 protected:
  // 2 x 2 matrices of ones: every element of the product is 2.
  static Sgemm small() { return {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2}; }
};

TEST_P(OpenClNative, RandomProblemsWithOffsets) {
  const OpenClCaller caller(device_);
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    check(caller, seed);
  }
}

TEST_P(OpenClNative, RandomBatchesByOffsets) {
  const OpenClCaller caller(device_);
  for (std::uint32_t seed = 2000; seed < 2200; ++seed) {
    check(caller, seed, true);
  }
}

TEST_P(OpenClNative, RandomNarrowProblems) {
  const OpenClCaller caller(device_);
  for (std::uint32_t seed = 2200; seed < 2400; ++seed) {
    check(caller, seed, seed % 3 == 0, true);
  }
}

TEST_P(OpenClNative, GroupsOfColumnsAndOfRows) {
  const OpenClCaller caller(device_);
  for (const Layout layout : {Layout::column_major, Layout::row_major}) {
    Problem problem = problem_of(60, 70, 44, "TN", 4);
    problem.beta = 2.0f;
    const GroupedProduct product(problem, {30, 30, 67}, 8);
    const Sgemm request = product.request(layout);
    const cl::Buffer a = caller.buffer(product.a), b = caller.buffer(product.b), c = caller.buffer(product.c);
    std::vector<std::int32_t> padded = product.ends;
    padded.insert(padded.begin(), {-1, -1});
    const cl::Buffer ends = caller.buffer(padded);
    const bool by_rows = layout == Layout::row_major;
    const auto multiply = [&](const opencl::Matrix& groups) {
      opencl::sgemm_grouped(caller.queue(), request, groups, {by_rows ? b() : a()}, {by_rows ? a() : b()},
                            {c()});
    };
    multiply({ends(), 2});
    std::vector<float> found(product.c.size());
    caller.read(c, found);
    product.expect_right(found);
    EXPECT_GT(opencl::sgemm_grouped_workspace_bytes(caller.queue(), request), 0u);
    if (!by_rows) {
      duogemm_problem in_c = DUOGEMM_PROBLEM_INIT;
      in_c.a_op = DUOGEMM_TRANSPOSE;
      in_c.m = request.m;
      in_c.n = request.n;
      in_c.k = request.k;
      in_c.lda = request.lda;
      in_c.ldb = request.ldb;
      in_c.ldc = request.ldc;
      in_c.batch = request.batch;
      in_c.a_stride = request.a_stride;
      in_c.beta = request.beta;
      const cl::Buffer again = caller.buffer(product.c);
      ASSERT_EQ(duogemm_opencl_sgemm_grouped(caller.queue(), &in_c, ends(), 2, a(), 0, b(), 0, again(), 0, 0,
                                             nullptr, nullptr),
                DUOGEMM_SUCCESS);
      caller.read(again, found);
      product.expect_right(found);
    }
    EXPECT_EQ(refusal([&] {
                multiply({ends(), 3});
              }),
              "the array of ends has 20 bytes; the problem reaches to 24");
    EXPECT_EQ(refusal([&] { multiply({}); }), "the array of ends is null");
  }
}

TEST_P(OpenClNative, ThreadsWithQueuesOfTheirOwnAndContextsOfTheirOwn) {
  const OpenClCaller shared(device_);
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const OpenClCaller own(device_);
      for (std::uint32_t i = 0; i < 10; ++i) {
        check(t % 2 == 0 ? shared : own, 1000 + 100 * t + i);
      }
    });
  }
}

// Each of PoCL's threads has a core to itself once a device is open.
TEST_P(OpenClNative, KeepsThreadsApart) {
  const DeviceInfo info = opencl::describe(device_, 0);
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  if (!opencl::is_pocl(info) || info.kind != DeviceKind::cpu || info.compute_units < 2 ||
      static_cast<std::size_t>(CPU_COUNT(&cores)) != info.compute_units ||
      std::getenv("POCL_AFFINITY") != nullptr) {
    GTEST_SKIP() << "threads stay where they are";
  }
  const auto device = opencl_backend().open(0, {});
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    cpu_set_t own;
    if (sched_getaffinity(std::stoi(task.path().filename()), sizeof own, &own) == 0 && CPU_COUNT(&own) == 1) {
      CPU_OR(&taken, &taken, &own);
    }
  }
  EXPECT_TRUE(CPU_EQUAL(&taken, &cores));
}

TEST_P(OpenClNative, TakesNothingForWhatIsNotRead) {
  const OpenClCaller caller(device_);
  const cl::Buffer c = caller.buffer(std::vector<float>(4, 3.0f));
  const cl::Buffer offsets = caller.buffer(std::vector<cl_long>(1));
  Sgemm scaling = small();
  scaling.alpha = 0.0f;
  scaling.beta = 2.0f;
  opencl::sgemm(caller.queue(), scaling, {nullptr, 5}, {nullptr}, {c()});
  opencl::sgemm_batched(caller.queue(), scaling, {nullptr}, {nullptr, 5}, {c()},
                        {nullptr, nullptr, offsets()});
  std::vector<float> result(4);
  caller.read(c, result);
  EXPECT_EQ(result, std::vector<float>(4, 12.0f));
}

TEST_P(OpenClNative, WaitsForEventsAndSignalsItsOwn) {
  const OpenClCaller caller(device_, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const std::vector<float> ones(4, 1.0f);
  const cl::Buffer a = caller.buffer(ones);
  const cl::Buffer b = caller.buffer(ones);
  const cl::Buffer c = caller.buffer(ones);
  cl::UserEvent gate(caller.context);
  const cl_event wait = gate();
  cl_event done = nullptr;
  opencl::sgemm(caller.queue(), small(), {a()}, {b()}, {c()}, {&wait, 1}, &done);
  const cl::Event finished(done);
  caller.queue.flush();
  EXPECT_NE(finished.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
  gate.setStatus(CL_COMPLETE);
  finished.wait();
  std::vector<float> result(4);
  const std::vector<cl::Event> after = {finished};
  caller.queue.enqueueReadBuffer(c, CL_TRUE, 0, sizeof(float) * 4, result.data(), &after);
  EXPECT_EQ(result, std::vector<float>(4, 2.0f));
}

TEST_P(OpenClNative, WarmsUp) {
  if (opencl::describe(device_, 0).kind != DeviceKind::cpu) {
    GTEST_SKIP() << "it may take minutes";
  }
  const OpenClCaller caller(device_);
  EXPECT_GT(opencl::warm(caller.queue()).programs, 10u);
  EXPECT_EQ(duogemm_opencl_warm(caller.queue()), DUOGEMM_SUCCESS);
  EXPECT_EQ(duogemm_opencl_warm(nullptr), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "queue is null");
  // And it multiplies, in the workspace that is there.
  const cl::Buffer a = caller.buffer(std::vector<float>(700 * 700, 1.0f));
  const cl::Buffer c = caller.buffer(std::vector<float>(700 * 700, nan));
  opencl::sgemm(caller.queue(), {.m = 700, .n = 700, .k = 700, .lda = 700, .ldb = 700, .ldc = 700}, {a()},
                {a()}, {c()});
  std::vector<float> result(700 * 700);
  caller.read(c, result);
  EXPECT_EQ(result, std::vector<float>(700 * 700, 700.0f));
}

TEST_P(OpenClNative, RefusesWhatCannotBe) {
  const OpenClCaller caller(device_);
  const OpenClCaller other(device_);
  const cl::Buffer whole = caller.buffer(std::vector<float>(4, 1.0f));
  const cl::Buffer short_one = caller.buffer(std::vector<float>(3, 1.0f));
  const cl::Buffer foreign = other.buffer(std::vector<float>(4, 1.0f));
  const auto call = [&](cl_mem a, cl_mem b, cl_mem c, std::size_t offset) {
    return refusal([&] { opencl::sgemm(caller.queue(), small(), {a}, {b}, {c, offset}); });
  };
  EXPECT_EQ(call(nullptr, whole(), whole(), 0), "a is null");
  EXPECT_EQ(call(whole(), nullptr, whole(), 0), "b is null");
  EXPECT_EQ(call(whole(), whole(), nullptr, 0), "c is null");
  EXPECT_EQ(call(foreign(), whole(), whole(), 0), "a belongs to another context than the queue");
  EXPECT_EQ(call(whole(), short_one(), whole(), 0), "b has 12 bytes; the problem reaches to 16");
  EXPECT_EQ(call(whole(), whole(), whole(), 1), "c has 16 bytes; the problem reaches to 20");
  EXPECT_EQ(refusal([&] { opencl::sgemm(nullptr, small(), {whole()}, {whole()}, {whole()}); }),
            "queue is null");
  Sgemm by_rows = small();
  by_rows.layout = Layout::row_major;
  EXPECT_EQ(refusal([&] { opencl::sgemm(caller.queue(), by_rows, {nullptr}, {whole()}, {whole()}); }),
            "a is null");
}

// A size that wraps around would pass for a small one.
TEST_P(OpenClNative, RefusesOffsetsThatNoBufferHas) {
  const OpenClCaller caller(device_);
  const cl::Buffer whole = caller.buffer(std::vector<float>(4, 1.0f));
  for (const std::size_t offset :
       {~std::size_t{0}, ~std::size_t{0} - 15, ~std::size_t{0} / 4, std::size_t{1} << 62}) {
    const auto call = [&](std::size_t a, std::size_t b, std::size_t c) {
      return refusal([&] {
        opencl::sgemm(caller.queue(), small(), {whole(), a}, {whole(), b}, {whole(), c});
      });
    };
    const std::string why = " has an offset of " + std::to_string(offset) + " elements; no buffer is as long";
    EXPECT_EQ(call(offset, 0, 0), "a" + why);
    EXPECT_EQ(call(0, offset, 0), "b" + why);
    EXPECT_EQ(call(0, 0, offset), "c" + why);
  }
  std::vector<float> result(4);
  caller.read(whole, result);
  EXPECT_EQ(result, std::vector<float>(4, 1.0f));
}

TEST_P(OpenClNative, RefusesMemoryOfAnotherKind) {
  const OpenClCaller caller(device_);
  const cl::Buffer whole = caller.buffer(std::vector<float>(4, 1.0f));
  const cl::Buffer to_read(caller.context, CL_MEM_READ_ONLY, 16);
  const cl::Buffer to_write(caller.context, CL_MEM_WRITE_ONLY, 16);
  const auto call = [&](cl_mem a, cl_mem b, cl_mem c, float beta = 0.0f) {
    Sgemm request = small();
    request.beta = beta;
    return refusal([&] { opencl::sgemm(caller.queue(), request, {a}, {b}, {c}); });
  };
  EXPECT_EQ(call(to_write(), whole(), whole()), "a is not for kernels to read");
  EXPECT_EQ(call(whole(), to_write(), whole()), "b is not for kernels to read");
  EXPECT_EQ(call(whole(), whole(), to_read()), "c is not for kernels to write");
  EXPECT_EQ(call(whole(), whole(), to_write(), 1.0f), "c is not for kernels to read");
  EXPECT_EQ(call(to_read(), to_read(), to_write()), "accepted");
  if (device_.getInfo<CL_DEVICE_IMAGE_SUPPORT>()) {
    const cl::Image2D image(caller.context, CL_MEM_READ_WRITE, cl::ImageFormat(CL_RGBA, CL_FLOAT), 2, 2);
    EXPECT_EQ(call(image(), whole(), whole()), "a is not a buffer");
  }
}

TEST_P(OpenClNative, RefusesEventsThatItCannotWaitFor) {
  const OpenClCaller caller(device_);
  const OpenClCaller other(device_);
  const cl::Buffer whole = caller.buffer(std::vector<float>(4, 1.0f));
  cl::UserEvent own(caller.context);
  cl::UserEvent foreign(other.context);
  const auto call = [&](const Sgemm& request, cl_event second) {
    const cl_event events[] = {own(), second};
    return refusal([&] { opencl::sgemm(caller.queue(), request, {whole()}, {whole()}, {whole()}, events); });
  };
  for (Sgemm request : {small(), Sgemm{}}) {  // the second one has nothing to do
    EXPECT_EQ(call(request, nullptr), "event 1 to wait for is no event");
    EXPECT_EQ(call(request, foreign()), "event 1 to wait for belongs to another context than the queue");
    const std::span<const cl_event> no_list(static_cast<const cl_event*>(nullptr), 2);
    EXPECT_EQ(
        refusal([&] { opencl::sgemm(caller.queue(), request, {whole()}, {whole()}, {whole()}, no_list); }),
        "wait_for is null; it must list 2 events");
  }
  // NVIDIA's driver waits for ever where a context goes before its events have come about.
  own.setStatus(CL_COMPLETE);
  foreign.setStatus(CL_COMPLETE);
}

INSTANTIATE_TEST_SUITE_P(Devices, OpenClNative, ::testing::Range<std::size_t>(0, OpenClNative::count()),
                         [](const auto& info) { return "opencl" + std::to_string(info.param); });

}  // namespace
}  // namespace duogemm::testing
