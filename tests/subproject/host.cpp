// Multiplies through the C++ header, and names every way to say which events an OpenCL call waits for: C++17.
#include <array>
#include <cstdio>
#include <duogemm/opencl.hpp>
#include <vector>

int main() {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
  float c[4];
  duogemm::Sgemm problem;
  problem.layout = duogemm::Layout::row_major;
  problem.m = problem.n = problem.ldb = problem.ldc = 2;
  problem.k = problem.lda = 3;
  duogemm::sgemm(problem, a, b, c);
  std::printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);

  const cl_event array[2] = {};
  const std::vector<cl_event> vector(3);
  const std::array<cl_event, 4> std_array = {};
  const duogemm::opencl::Events events[] = {{}, {array, 1}, array, vector, std_array};
  std::size_t count = 0;
  for (const duogemm::opencl::Events& some : events) {
    count = 10 * count + some.size;
  }
  return count == 1234 ? 0 : 1;
}
