// A caller of the CUDA entry points.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cuda_device.h"
#include "duogemm/cuda.hpp"

namespace duogemm::testing {

// Device memory with a copy of a host array.
class CudaMemory {
 public:
  template <typename T>
  explicit CudaMemory(const std::vector<T>& from) : bytes_(sizeof(T) * from.size()) {
    DUOGEMM_CUDA(cuMemAlloc(&pointer_, bytes_));
    write(from);
  }
  ~CudaMemory() { cuda::driver()->cuMemFree(pointer_); }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  float* data() const { return as<float>(); }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(pointer_);
  }
  template <typename T>
  void write(const std::vector<T>& from) const {
    DUOGEMM_CUDA(cuMemcpyHtoDAsync(pointer_, from.data(), bytes_, nullptr));
    DUOGEMM_CUDA(cuStreamSynchronize(nullptr));
  }
  template <typename T>
  void read(std::vector<T>& to, CUstream stream) const {
    DUOGEMM_CUDA(cuMemcpyDtoHAsync(to.data(), pointer_, bytes_, stream));
    DUOGEMM_CUDA(cuStreamSynchronize(stream));
  }

 private:
  std::size_t bytes_;
  CUdeviceptr pointer_ = 0;
};

// Reads the device's memory, once all of its commands are done.
inline std::size_t free_bytes() {
  std::size_t free = 0, all = 0;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&free, &all), cudaSuccess);
  return free;
}

// On the first CUDA device; skipped where there is none.
class CudaDeviceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) {
      GTEST_SKIP() << "no cuda device was found";
    }
    context_ = std::make_shared<const cuda::DeviceContext>(cuda::device_at(0));
  }

  CUstream make_stream() const {
    const cuda::CurrentContext current(context_);
    CUstream stream = nullptr;
    DUOGEMM_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
  }

  cuda::SharedContext context_;
};

}  // namespace duogemm::testing
