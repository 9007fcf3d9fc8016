// A program that is linked to cuBLAS and knows nothing of duogemm: multiplies two random matrices on the
// device and compares with a reference in double precision. Ends with 77 where there is no device.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int m = 320, n = 640, k = 480;

std::vector<float> random_matrix(std::size_t size, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  std::vector<float> matrix(size);
  for (float& value : matrix) {
    value = values(engine);
  }
  return matrix;
}

float* on_device(const std::vector<float>& from) {
  void* memory = nullptr;
  cudaMalloc(&memory, from.size() * sizeof(float));
  cudaMemcpy(memory, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice);
  return static_cast<float*>(memory);
}

double element(const std::vector<float>& matrix, int rows, int row, int col) {
  return matrix[static_cast<std::size_t>(col) * rows + row];
}

// The largest error, of what FP32 with k terms may have.
double error_of(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  double largest = 0.0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0.0, magnitude = 0.0;
      for (int p = 0; p < k; ++p) {
        const double term = element(a, m, i, p) * element(b, k, p, j);
        sum += term;
        magnitude += std::fabs(term);
      }
      const double bound = (2 * std::sqrt(k) + 4) * 0x1p-24 * magnitude;
      largest = std::fmax(largest, std::fabs(element(c, m, i, j) - sum) / bound);
    }
  }
  return largest;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no cuda device was found");
    return 77;
  }
  const std::vector<float> a = random_matrix(m * k, 1), b = random_matrix(k * n, 2);
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
  const double error = error_of(a, b, c);
  std::printf("error %.3f of what is allowed\n", error);
  return error <= 1.0 ? 0 : 1;
}
