// Multiplies by the public functions of C++ and C where there is no driver: see run. Ends with 0 where all is
// right.
#include <duogemm/duogemm.h>

#include <cstdio>
#include <cstdlib>
#include <duogemm/sgemm.hpp>
#include <string>
#include <vector>

namespace {

constexpr int size = 200;
const std::vector<float> ones(size* size, 1.0f);

void require(bool right, const char* what) {
  if (!right) {
    std::printf("%s is wrong\n", what);
    std::exit(1);
  }
}

void require_product(const std::vector<float>& c, const char* what) {
  require(c == std::vector<float>(size * size, size), what);
}

void multiply_by_c() {
  std::vector<float> c(size * size);
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = size;
  require(duogemm_sgemm(&problem, ones.data(), ones.data(), c.data()) == DUOGEMM_SUCCESS,
          duogemm_last_error());
  require_product(c, "C");
}

void multiply_by_cpp() {
  const duogemm::Sgemm problem{.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size};
  std::vector<float> c(size * size);
  duogemm::Context by_name("cpu");
  by_name.sgemm(problem, ones.data(), ones.data(), c.data());
  require_product(c, "Context(\"cpu\")");
  const duogemm::Context best;
  require(best.device_name() == by_name.device_name(), "the default device");
  setenv("DUOGEMM_DEVICE", "cpu0", 1);
  require(duogemm::Context().device_name() == by_name.device_name(), "DUOGEMM_DEVICE");
  // With a limit, blocks are copied.
  std::vector<float> copied(size * size);
  duogemm::Context limited("cpu:0", {.device_memory = 100 << 10});
  limited.sgemm(problem, ones.data(), ones.data(), copied.data());
  require_product(copied, "a context with little memory");
  try {
    duogemm::Context second("cpu1");
    require(false, "the number of devices");
  } catch (const duogemm::Error& error) {
    require(std::string(error.what()).find("cpu has devices 0 to 0") != std::string::npos, error.what());
  }
}

}  // namespace

int main() {
  multiply_by_c();
  multiply_by_cpp();
}
