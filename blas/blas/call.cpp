#include "call.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "duogemm/error.h"
#include "family.h"
#include "next_blas.h"
#include "permitted.h"
#include "reached.h"

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

// Gives each member of the batch to multiply_one(problem, a, b, c).
template <typename MultiplyOne>
void one_by_one(const Call& call, const MultiplyOne& multiply_one) {
  Sgemm one = call.problem;
  one.batch = 1;
  one.a_stride = one.b_stride = one.c_stride = 0;
  for (std::int64_t member = 0; member < call.problem.batch; ++member) {
    multiply_one(one, call.a + member * call.problem.a_stride, call.b + member * call.problem.b_stride,
                 call.c + member * call.problem.c_stride);
  }
}

void multiply(Call call) {
  static const Precision precision = permitted_precision();
  call.problem.precision = precision;
  if (strides_forwards(call.problem)) {
    sgemm(call.problem, call.a, call.b, call.c);
  } else {
    one_by_one(call, [](const Sgemm& p, const float* a, const float* b, float* c) { sgemm(p, a, b, c); });
  }
}

using SgemmOfFortran = void(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                            const float* alpha, const float* a, const int* lda, const float* b,
                            const int* ldb, const float* beta, float* c, const int* ldc, std::size_t,
                            std::size_t);

[[noreturn]] void give_up(const std::string& reason) {
  std::fprintf(stderr, "duogemm: SGEMM cannot be computed: %s\n", reason.c_str());
  std::abort();
}

// Has the next BLAS compute the call. A legal one has the sizes of BLAS, so that all of them fit an int.
void pass_on(const Call& call, const std::string& reason) {
  static SgemmOfFortran* const next_sgemm = next<SgemmOfFortran>("sgemm_");
  if (next_sgemm == nullptr) {
    give_up(reason + "; and there is no other BLAS to pass it on to");
  }
  if (!family().warned.exchange(true)) {
    std::fprintf(stderr, "duogemm: %s; SGEMM is passed on to another BLAS\n", reason.c_str());
  }
  one_by_one(call, [](const Sgemm& p, const float* a, const float* b, float* c) {
    const char* a_op = p.a_op == Transpose::no ? "N" : "T";
    const char* b_op = p.b_op == Transpose::no ? "N" : "T";
    const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
    const int lda = static_cast<int>(p.lda), ldb = static_cast<int>(p.ldb), ldc = static_cast<int>(p.ldc);
    next_sgemm(a_op, b_op, &m, &n, &k, &p.alpha, a, &lda, b, &ldb, &p.beta, c, &ldc, 1, 1);
  });
}

// A call that is refused because of a null pointer is the caller's fault, and no device is missing.
bool has_device() {
  try {
    const Context any;
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Why nothing is computed here and never will be; none of it is freed, for calls may come until the very end.
std::atomic<const std::string*> no_device = nullptr;

void serve_refused(const Call& call, const Error& error) {
  if (error.status() == Status::unsupported) {  // as after a fork
    pass_on(call, error.what());
  } else if (error.status() == Status::invalid_argument && !has_device()) {
    no_device = new std::string(error.what());
    pass_on(call, error.what());
  } else {
    give_up(error.what());
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
  note_reached();
  if (leaves_c_alone(call.problem)) {
    return;
  }
  if (const std::string* reason = no_device) {
    pass_on(call, *reason);
    return;
  }
  try {
    multiply(call);
  } catch (const Error& error) {
    serve_refused(call, error);
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

}  // namespace duogemm::blas
