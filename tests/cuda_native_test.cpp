// SGEMM on the caller's own CUDA stream and device pointers.
#include <cuda_runtime_api.h>
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
    template <typename T>
    explicit Memory(const std::vector<T>& from) : bytes_(sizeof(T) * from.size()) {
      DUOGEMM_CUDA(cuMemAlloc(&pointer_, bytes_));
      DUOGEMM_CUDA(cuMemcpyHtoDAsync(pointer_, from.data(), bytes_, nullptr));
      DUOGEMM_CUDA(cuStreamSynchronize(nullptr));
    }
    ~Memory() { cuda::driver()->cuMemFree(pointer_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    float* data() const { return reinterpret_cast<float*>(pointer_); }
    template <typename T>
    T* as() const {
      return reinterpret_cast<T*>(pointer_);
    }
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

  void check_batched(std::uint32_t seed, CUstream stream) const {
    const cuda::CurrentContext current(context_);
    check_random_sgemm(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
      const Memory device_a(a.array);
      const Memory device_b(b.array);
      const Memory device_c(c.array);
      const Memory list_a(a.list(device_a.data() + a.begin, request.batch));
      const Memory list_b(b.list(device_b.data() + b.begin, request.batch));
      const Memory list_c(c.list(device_c.data() + c.begin, request.batch));
      cuda::sgemm_batched(stream, request, list_a.as<const float*>(), list_b.as<const float*>(),
                          list_c.as<float*>());
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

TEST_F(CudaNative, RandomBatchesByAddresses) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 2000; seed < 2200; ++seed) {
    check_batched(seed, stream);
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

// Once the problem has been seen, a call puts nothing but kernels on the stream.
TEST_F(CudaNative, IsCapturedInAGraph) {
  const cuda::CurrentContext current(context_);
  const CUstream stream = make_stream();
  const Memory a(std::vector<float>(100 * 70, 1.0f));
  const Memory b(std::vector<float>(70 * 90, 0.5f));
  const Memory c(std::vector<float>(100 * 90, 0.0f));
  Sgemm request;
  request.m = request.lda = request.ldc = 100;
  request.n = 90;
  request.k = request.ldb = 70;
  request.beta = 1.0f;
  cuda::sgemm(stream, request, a.data(), b.data(), c.data());

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  cuda::sgemm(stream, request, a.data(), b.data(), c.data());
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  std::vector<float> result(100 * 90);
  c.read(result, stream);
  EXPECT_EQ(result, std::vector<float>(100 * 90, 3 * 35.0f));  // the first call and two launches
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
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
