// SGEMM on the caller's own CUDA stream and device pointers.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cuda_caller.h"
#include "random_sgemm.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

class CudaNative : public CudaDeviceTest {
 protected:
  void check(std::uint32_t seed, CUstream stream, bool batched, bool narrow = false) const {
    const cuda::CurrentContext current(context_);
    const auto check_random = narrow ? check_random_narrow_sgemm : check_random_sgemm;
    check_random(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
      const CudaMemory device_a(a.array);
      const CudaMemory device_b(b.array);
      const CudaMemory device_c(c.array);
      if (batched) {
        const CudaMemory list_a(a.list(device_a.data(), request.batch));
        const CudaMemory list_b(b.list(device_b.data(), request.batch));
        const CudaMemory list_c(c.list(device_c.data(), request.batch));
        cuda::sgemm_batched(stream, request, list_a.as<const float*>(), list_b.as<const float*>(),
                            list_c.as<float*>());
        device_c.read(c.array, stream);
      } else {
        cuda::sgemm(stream, request, a.member(device_a.data()), b.member(device_b.data()),
                    c.member(device_c.data()));
        device_c.read(c.array, stream);
      }
    });
  }
};

TEST_P(CudaNative, RandomProblemsOnAStreamAndOnTheNullStream) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    check(seed, seed % 2 == 0 ? stream : nullptr, false);
  }
}

TEST_P(CudaNative, RandomBatchesByAddresses) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 2000; seed < 2200; ++seed) {
    check(seed, stream, true);
  }
}

TEST_P(CudaNative, RandomNarrowProblems) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 2200; seed < 2400; ++seed) {
    check(seed, stream, seed % 3 == 0, true);
  }
}

TEST_P(CudaNative, WarmsUpAStreamForItsFirstCall) {
  const cuda::CurrentContext current(context_);
  const Sgemm request{
      .a_op = Transpose::yes, .m = 1024, .n = 236, .k = 1024, .lda = 1024, .ldb = 1024, .ldc = 1024};
  if (cuda::sgemm_workspace_bytes(nullptr, request) == 0) {
    GTEST_SKIP() << "the product needs no workspace here";
  }
  const CudaMemory a(std::vector<float>(1024 * 1024, 1.0f));
  const CudaMemory b(std::vector<float>(1024 * 236, 1.0f));
  const CudaMemory c(std::vector<float>(1024 * 236, 0.0f));
  cuda::sgemm(make_stream(), request, a.data(), b.data(), c.data());  // plans
  const CUstream stream = make_stream();
  cuda::warm(stream);
  const std::size_t before = free_bytes();
  cuda::sgemm(stream, request, a.data(), b.data(), c.data());
  EXPECT_EQ(before, free_bytes());
}

// Exact numbers: an addend of its own leading dimension, a bias, and the positive part, with factors here and
// there.
TEST_P(CudaNative, FinishesWithAnEpilogue) {
  const cuda::CurrentContext current(context_);
  constexpr int m = 100, n = 60, k = 35;
  const CudaMemory a(std::vector<float>(m * k, 1.0f)), b(std::vector<float>(k * n, 2.0f));
  const CudaMemory addend(std::vector<float>(110 * n, -100.0f)), scalars(std::vector<float>{0.5f, 2.0f});
  std::vector<float> values(m), result(m * n);
  for (int i = 0; i < m; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<float>(2 * i);
  }
  const CudaMemory bias(values);
  for (const bool in_memory : {false, true}) {
    const CudaMemory c(std::vector<float>(m * n, std::nanf("")));
    const Sgemm request{.m = m, .n = n, .k = k, .alpha = 0.5f, .beta = 2.0f, .lda = m, .ldb = k, .ldc = m};
    cuda::Epilogue epilogue{
        .addend = addend.data(), .addend_ld = 110, .bias = bias.data(), .activation = Activation::relu};
    if (in_memory) {
      epilogue.alpha = scalars.data();
      epilogue.beta = scalars.data() + 1;
    }
    cuda::sgemm_with_epilogue(nullptr, request, a.data(), b.data(), c.data(), epilogue);
    c.read(result, nullptr);
    for (int i = 0; i < m * n; ++i) {
      ASSERT_EQ(result[static_cast<std::size_t>(i)],
                std::max(0.0f, static_cast<float>(k - 200 + 2 * (i % m))))
          << i;
    }
  }
}

TEST_P(CudaNative, RefusesEpiloguesThatDoNotFit) {
  const cuda::CurrentContext current(context_);
  const CudaMemory memory(std::vector<float>(64, 1.0f));
  const Sgemm request{.m = 8, .n = 8, .k = 8, .beta = 1.0f, .lda = 8, .ldb = 8, .ldc = 8};
  const auto refused = [&](const cuda::Epilogue& epilogue) {
    return refusal([&] {
      cuda::sgemm_with_epilogue(nullptr, request, memory.data(), memory.data(), memory.data(), epilogue);
    });
  };
  EXPECT_EQ(refused({.alpha = memory.data()}), "alpha and beta must both be in device memory, or neither");
  EXPECT_EQ(refused({.addend = memory.data(), .addend_ld = 7}),
            "the leading dimension of the addend is 7; it must be at least 8");
  EXPECT_EQ(refused({.addend = memory.data()}),
            "the leading dimension of the addend is 0; it must be at least 8");
  EXPECT_EQ(refused({.bias = memory.data(), .bias_stride = -1}),
            "the stride of the bias is -1; it must be at least 0");
  EXPECT_EQ(
      refusal([&] {
        cuda::sgemm_batched_with_epilogue(nullptr, request, nullptr, nullptr, nullptr,
                                          {.bias = memory.data()});
      }),
      "a batch by lists has an addend, a bias or an activation; its epilogue may have alpha and beta alone");
}

TEST_P(CudaNative, RefusesPointersThatAreNullOrBeginWithinAnElement) {
  const Sgemm request{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  const cuda::CurrentContext current(context_);
  const CudaMemory memory(std::vector<float>(8, 1.0f));
  for (int wrong = 0; wrong < 3; ++wrong) {
    const auto refused_with = [&](float* instead) {
      const auto place = [&](int which) { return wrong == which ? instead : memory.data(); };
      return refusal([&] { cuda::sgemm(nullptr, request, place(0), place(1), place(2)); });
    };
    const std::string name(1, "abc"[wrong]);
    EXPECT_EQ(refused_with(nullptr), name + " is null");
    EXPECT_EQ(refused_with(reinterpret_cast<float*>(memory.as<char>() + 2)),
              name + " is not at a multiple of 4 bytes");
  }
}

#if CUDA_VERSION >= 12050
template <typename Function>
Function* driver_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
}
#define DRIVER_FUNCTION(name) driver_function<decltype(name)>(#name)

TEST_P(CudaNative, PlansForTheMultiprocessorsOfAGreenContext) {
  auto* const create = DRIVER_FUNCTION(cuGreenCtxCreate);
  if (create == nullptr) {
    GTEST_SKIP() << "the driver has no green contexts";
  }
  const cuda::CurrentContext current(context_);
  const CUdevice device = cuda::device_at(0);
  CUdevResource all{}, part{};
  ASSERT_EQ(DRIVER_FUNCTION(cuDeviceGetDevResource)(device, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  unsigned parts = 1;
  ASSERT_EQ(DRIVER_FUNCTION(cuDevSmResourceSplitByCount)(&part, &parts, &all, nullptr, 0, all.sm.smCount / 3),
            CUDA_SUCCESS);
  CUdevResourceDesc description = nullptr;
  ASSERT_EQ(DRIVER_FUNCTION(cuDevResourceGenerateDesc)(&description, &part, 1), CUDA_SUCCESS);
  CUgreenCtx green = nullptr;
  ASSERT_EQ(create(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(DRIVER_FUNCTION(cuCtxFromGreenCtx)(&context, green), CUDA_SUCCESS);
  const auto borrowed = std::make_shared<const cuda::DeviceContext>(context);
  EXPECT_EQ(cuda::borrow_context(borrowed)->info().compute_units, part.sm.smCount);
  EXPECT_LT(part.sm.smCount, all.sm.smCount);
  CUstream stream = nullptr;
  ASSERT_EQ(DRIVER_FUNCTION(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  CUcontext of_stream = nullptr;
  DUOGEMM_CUDA(cuStreamGetCtx(stream, &of_stream));
  EXPECT_EQ(of_stream, context);
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    check(seed, stream, false);
  }
}
#endif

TEST(CudaWithoutADriver, SaysSo) {
  if (cuda::driver() != nullptr) {
    GTEST_SKIP() << "there is a driver";
  }
  float c = 0.0f;
  EXPECT_NE(refusal([&] { cuda::sgemm(nullptr, {.m = 1, .n = 1, .k = 1}, &c, &c, &c); }, Status::unsupported),
            "accepted");
}

INSTANTIATE_TEST_SUITE_P(Devices, CudaNative, ::testing::Values("cuda0"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace duogemm::testing
