// Plain arrays, on whatever device is best here.
#include <cstdio>
#include <vector>

#include "duogemm/sgemm.hpp"

int main() {
  duogemm::Sgemm problem;
  problem.layout = duogemm::Layout::row_major;
  problem.m = 2;
  problem.n = 2;
  problem.k = 3;
  problem.lda = 3;
  problem.ldb = 2;
  problem.ldc = 2;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};     // 2 x 3
  const std::vector<float> b = {7, 8, 9, 10, 11, 12};  // 3 x 2
  std::vector<float> c(4);
  try {
    duogemm::sgemm(problem, a.data(), b.data(), c.data());
  } catch (const duogemm::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);
  return c == std::vector<float>{58, 64, 139, 154} ? 0 : 1;
}
