// SGEMM on the caller's own CUDA stream and device pointers.
#include <gtest/gtest.h>

#include <thread>

#include "cuda_device.h"
#include "cuda_devices.h"
#include "duogemm/cuda.hpp"
#include "random_sgemm.h"

namespace duogemm::testing {
namespace {

class CudaNative : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) {
      GTEST_SKIP() << "no cuda device was found";
    }
    context_ = std::make_shared<const cuda::DeviceContext>(cuda::device_at(0));
  }

  // Device memory with a copy of a host array.
  class Memory {
   public:
    explicit Memory(const std::vector<float>& from) : bytes_(sizeof(float) * from.size()) {
      DUOGEMM_CUDA(cuMemAlloc(&pointer_, bytes_));
      DUOGEMM_CUDA(cuMemcpyHtoDAsync(pointer_, from.data(), bytes_, nullptr));
      DUOGEMM_CUDA(cuStreamSynchronize(nullptr));
    }
    ~Memory() { cuda::driver()->cuMemFree(pointer_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    float* data() const { return reinterpret_cast<float*>(pointer_); }
    void read(std::vector<float>& to, CUstream stream) const {
      DUOGEMM_CUDA(cuMemcpyDtoHAsync(to.data(), pointer_, bytes_, stream));
      DUOGEMM_CUDA(cuStreamSynchronize(stream));
    }

   private:
    std::size_t bytes_;
    CUdeviceptr pointer_ = 0;
  };

  void check(std::uint32_t seed, CUstream stream) const {
    const cuda::CurrentContext current(context_);
    check_random_sgemm(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
      const Memory device_a(a.array);
      const Memory device_b(b.array);
      const Memory device_c(c.array);
      cuda::sgemm(stream, request, device_a.data() + a.begin, device_b.data() + b.begin,
                  device_c.data() + c.begin);
      device_c.read(c.array, stream);
    });
  }

  CUstream make_stream() const {
    const cuda::CurrentContext current(context_);
    CUstream stream = nullptr;
    DUOGEMM_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
  }

  cuda::SharedContext context_;
};

TEST_F(CudaNative, RandomProblemsOnAStreamAndOnTheNullStream) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    check(seed, seed % 2 == 0 ? stream : nullptr);
  }
}

TEST_F(CudaNative, ThreadsWithStreamsOfTheirOwn) {
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const CUstream stream = make_stream();
      for (std::uint32_t i = 0; i < 20; ++i) {
        check(1000 + 100 * t + i, stream);
      }
    });
  }
}

TEST_F(CudaNative, RefusesNullPointers) {
  Sgemm request;
  request.m = request.n = request.k = request.lda = request.ldb = request.ldc = 2;
  const cuda::CurrentContext current(context_);
  const Memory memory(std::vector<float>(4, 1.0f));
  for (int missing = 0; missing < 3; ++missing) {
    const auto place = [&](int which) { return missing == which ? nullptr : memory.data(); };
    try {
      cuda::sgemm(nullptr, request, place(0), place(1), place(2));
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_EQ(std::string(error.what()), std::string(1, "abc"[missing]) + " is null");
    }
  }
}

TEST(CudaWithoutADriver, SaysSo) {
  if (cuda::driver() != nullptr) {
    GTEST_SKIP() << "there is a driver";
  }
  Sgemm request;
  request.m = request.n = request.k = 1;
  float c = 0.0f;
  try {
    cuda::sgemm(nullptr, request, &c, &c, &c);
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
  }
}

}  // namespace
}  // namespace duogemm::testing
