// A context on an OpenCL device, and a batch of small products in one call.
#include <cstdio>
#include <vector>

#include "duogemm/sgemm.hpp"

int main() {
  try {
    duogemm::Context context("opencl");
    std::printf("%s\n", context.device_name().c_str());

    duogemm::Sgemm problem;
    problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = 4;
    problem.batch = 100;
    problem.a_stride = problem.c_stride = 16;
    problem.b_stride = 0;  // the same B for all
    problem.beta = 1.0f;
    const std::vector<float> a(1600, 0.5f);
    const std::vector<float> b(16, 2.0f);
    std::vector<float> c(1600, 1.0f);
    context.sgemm(problem, a.data(), b.data(), c.data());
    return c == std::vector<float>(1600, 5.0f) ? 0 : 1;
  } catch (const duogemm::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
