// A program that is linked to cuBLAS and knows nothing of duogemm: multiplies two matrices of small integers
// on the device, whose product is exact. Ends with 77 where there is no device.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

namespace {

constexpr int m = 320, n = 640, k = 480;

std::vector<float> some_matrix(std::size_t size, std::size_t step) {
  std::vector<float> matrix(size);
  for (std::size_t i = 0; i < size; ++i) {
    matrix[i] = static_cast<float>(i * step % 17) - 8.0f;
  }
  return matrix;
}

float* on_device(const std::vector<float>& from) {
  void* memory = nullptr;
  cudaMalloc(&memory, from.size() * sizeof(float));
  cudaMemcpy(memory, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice);
  return static_cast<float*>(memory);
}

bool is_product(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  for (std::size_t i = 0; i < c.size(); ++i) {
    float sum = 0.0f;
    for (std::size_t p = 0; p < k; ++p) {
      sum += a[p * m + i % m] * b[i / m * k + p];
    }
    if (c[i] != sum) {
      return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no cuda device was found");
    return 77;
  }
  const std::vector<float> a = some_matrix(m * k, 7), b = some_matrix(k * n, 5);
  std::vector<float> c(m * n);
  float* const device_c = on_device(c);
  const float one = 1.0f, zero = 0.0f;
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
      cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, on_device(a), m, on_device(b), k, &zero,
                  device_c, m) != CUBLAS_STATUS_SUCCESS) {
    std::puts("cuBLAS failed");
    return 1;
  }
  cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cublasDestroy(handle);
  const bool right = is_product(a, b, c);
  std::puts(right ? "the product is right" : "the product is wrong");
  return right ? 0 : 1;
}
