/* C, on the application's own CUDA stream and device memory. Ends with 77 where there is no CUDA device. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "duogemm/cuda.h"

enum { n = 100, elements = n * n, bytes = elements * sizeof(float) };

int main(void) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("no CUDA device was found\n");
    return 77;
  }
  static float ones[elements];
  static float result[elements];
  for (int i = 0; i < elements; ++i) {
    ones[i] = 1.0f;
  }
  cudaStream_t stream;
  float* a;
  float* c;
  cudaStreamCreate(&stream);
  cudaMalloc((void**)&a, bytes);
  cudaMalloc((void**)&c, bytes);
  cudaMemcpyAsync(a, ones, bytes, cudaMemcpyHostToDevice, stream);

  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = n;
  if (duogemm_cuda_sgemm(stream, &problem, a, a, c) != DUOGEMM_SUCCESS) {
    fprintf(stderr, "%s\n", duogemm_last_error());
    return 1;
  }
  cudaMemcpyAsync(result, c, bytes, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  printf("every element is %g\n", result[0]);
  for (int i = 0; i < elements; ++i) {
    if (result[i] != (float)n) {
      return 1;
    }
  }
  return 0;
}
