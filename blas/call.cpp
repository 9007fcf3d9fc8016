#include "call.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace duogemm::blas {
namespace {

// What reference BLAS returns from at once. Here it also needs no device.
bool leaves_c_alone(const Sgemm& p) {
  return p.m == 0 || p.n == 0 || p.batch == 0 || ((p.alpha == 0.0f || p.k == 0) && p.beta == 1.0f);
}

bool is_leading_dimension(std::int64_t value, std::int64_t rows) {
  return value >= std::max<std::int64_t>(rows, 1);
}

// Results one behind the other, or side by side within ldc.
bool results_apart(const Sgemm& p) {
  const bool by_rows = p.layout == Layout::row_major;
  const std::int64_t length = by_rows ? p.n : p.m;
  const std::int64_t lines = by_rows ? p.m : p.n;
  return p.c_stride >= (lines - 1) * p.ldc + length ||
         (p.c_stride >= length && (p.batch - 1) * p.c_stride + length <= p.ldc);
}

// Strides that duogemm::sgemm takes. BLAS's batches may also run backwards, or add up into one C.
bool strides_forwards(const Sgemm& p) {
  return p.batch == 1 || (p.a_stride >= 0 && p.b_stride >= 0 && results_apart(p));
}

void multiply(const Call& call) {
  if (strides_forwards(call.problem)) {
    sgemm(call.problem, call.a, call.b, call.c);
    return;
  }
  Sgemm one = call.problem;
  one.batch = 1;
  one.a_stride = one.b_stride = one.c_stride = 0;
  for (std::int64_t member = 0; member < call.problem.batch; ++member) {
    sgemm(one, call.a + member * call.problem.a_stride, call.b + member * call.problem.b_stride,
          call.c + member * call.problem.c_stride);
  }
}

}  // namespace

int first_illegal(const Sgemm& problem, const Positions& positions) {
  const struct {
    bool legal;
    int position;
  } checks[] = {
      {problem.m >= 0, positions.m},
      {problem.n >= 0, positions.n},
      {problem.k >= 0, positions.k},
      {is_leading_dimension(problem.lda, problem.a_op == Transpose::no ? problem.m : problem.k),
       positions.lda},
      {is_leading_dimension(problem.ldb, problem.b_op == Transpose::no ? problem.k : problem.n),
       positions.ldb},
      {is_leading_dimension(problem.ldc, problem.m), positions.ldc},
      {problem.batch >= 0, positions.batch},
  };
  const auto* found =
      std::find_if(std::begin(checks), std::end(checks), [](const auto& c) { return !c.legal; });
  return found == std::end(checks) ? 0 : found->position;
}

void compute(const Call& call) {
  if (leaves_c_alone(call.problem)) {
    return;
  }
  try {
    multiply(call);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "duogemm: SGEMM cannot be computed: %s\n", error.what());
    std::abort();
  }
}

}  // namespace duogemm::blas
