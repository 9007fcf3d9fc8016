// The application's own OpenCL context, queue and buffers.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <cstdio>
#include <vector>

#include "duogemm/opencl.hpp"

int main() {
  constexpr std::size_t n = 100;
  constexpr std::size_t bytes = n * n * sizeof(float);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    std::fprintf(stderr, "no OpenCL device was found\n");
    return 1;
  }
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, nullptr);
  std::vector<float> ones(n * n, 1.0f);
  std::vector<float> result(n * n);
  cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, ones.data(), nullptr);
  cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
  try {
    duogemm::Sgemm problem;
    problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = n;
    cl_event done = nullptr;
    duogemm::opencl::sgemm(queue, problem, {a}, {a}, {c}, {}, &done);
    clEnqueueReadBuffer(queue, c, CL_TRUE, 0, bytes, result.data(), 1, &done, nullptr);
    clReleaseEvent(done);
  } catch (const duogemm::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  duogemm::opencl::release(context);
  clReleaseMemObject(a);
  clReleaseMemObject(c);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  std::printf("every element is %g\n", result[0]);
  return result == std::vector<float>(n * n, static_cast<float>(n)) ? 0 : 1;
}
