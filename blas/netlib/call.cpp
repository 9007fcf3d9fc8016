#include "call.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "duogemm/error.h"
#include "system/process.h"

namespace duogemm::blas {
namespace {

// Reference BLAS returns from these at once. Here they also need no device.
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

// Gives each member of the batch to multiply_one(call).
template <typename MultiplyOne>
[[gnu::noinline]] void one_by_one(const Call& call, const MultiplyOne& multiply_one) {
  Call one = call;
  one.problem.batch = 1;
  one.problem.a_stride = one.problem.b_stride = one.problem.c_stride = 0;
  for (std::int64_t member = 0; member < call.problem.batch; ++member) {
    multiply_one(one);
    one.a += call.problem.a_stride;
    one.b += call.problem.b_stride;
    one.c += call.problem.c_stride;
  }
}

using SgemmOfFortran = void(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                            const float* alpha, const float* a, const int* lda, const float* b,
                            const int* ldb, const float* beta, float* c, const int* ldc, std::size_t,
                            std::size_t);

constinit Next<SgemmOfFortran> next_sgemm("sgemm_");

[[noreturn]] void give_up(const std::string& reason) {
  std::fprintf(stderr, "duogemm: SGEMM cannot be computed: %s\n", reason.c_str());
  std::abort();
}

// Has the next BLAS compute the call. A legal one has the sizes of BLAS, so that all of them fit an int.
[[gnu::noinline]] void pass_on(const Call& call, const std::string& reason) {
  SgemmOfFortran* const sgemm = next_sgemm.find();
  if (sgemm == nullptr) {
    give_up(reason + "; and there is no other BLAS to pass it on to");
  }
  if (!family().warned.exchange(true)) {
    const std::string first_line = reason.substr(0, reason.find('\n'));  // of a compiler's log
    std::fprintf(stderr, "duogemm: %s; SGEMM is passed on to another BLAS\n", first_line.c_str());
  }
  one_by_one(call, [&](const Call& one) {
    const Sgemm& p = one.problem;
    const char* a_op = p.a_op == Transpose::no ? "N" : "T";
    const char* b_op = p.b_op == Transpose::no ? "N" : "T";
    const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
    const int lda = static_cast<int>(p.lda), ldb = static_cast<int>(p.ldb), ldc = static_cast<int>(p.ldc);
    sgemm(a_op, b_op, &m, &n, &k, &p.alpha, one.a, &lda, one.b, &ldb, &p.beta, one.c, &ldc, 1, 1);
  });
}

// Why nothing is computed here and never will be; null as long as something is. It is not freed, and nor is
// the device: calls may come until the very end.
std::atomic<const std::string*> out_of_use = nullptr;

void put_out_of_use(const std::string& reason) { out_of_use = new std::string(reason); }

std::string reason_of(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) ? "the host's memory is exhausted" : error.what();
}

// Null where there is no device that can be used.
Context* open_device() {
  try {
    return new Context;
  } catch (const std::exception& error) {
    put_out_of_use(reason_of(error));
    return nullptr;
  }
}

constinit std::atomic<Context*> opened = nullptr;

// Throws where it would have to be opened after a fork, and a driver cannot be asked.
[[gnu::noinline]] Context* open_shared_device() {
  require_devices_work_here();  // before the guards of static variables
  static Context* const device = open_device();
  opened = device;
  return device;
}

// Opened by the first call.
Context* shared_device() {
  Context* const device = opened;
  return device != nullptr ? device : open_shared_device();
}

void multiply(Context& device, Call& call) {
  const Asked& asked = asked_by_environment();
  call.problem.precision = asked.precision;
  call.problem.level = asked.level;
  device.sgemm(call.problem, call.a, call.b, call.c);
}

// Here alone is decided whether a call that failed is passed on: where C is as it was, or not read.
void serve_failed(const Call& call, const std::string& reason, std::optional<Status> status) {
  switch (status.value_or(Status::device_error)) {
    case Status::invalid_argument:  // a null pointer, with which another BLAS could do no better
      give_up(reason);
    case Status::unsupported:  // as after a fork
    case Status::out_of_memory:
      break;
    case Status::build_failed:
      put_out_of_use(reason);  // to try with every call would take longer than the other BLAS does
      break;
    case Status::device_error:
      if (call.problem.beta != 0.0f) {
        give_up(reason);
      }
      if (status) {
        put_out_of_use(reason);
      }
      break;
  }
  pass_on(call, reason);
}

// The exception that is being handled says why.
[[gnu::noinline]] void serve_failed(const Call& call) {
  try {
    throw;
  } catch (const Error& error) {
    serve_failed(call, error.what(), error.status());
  } catch (const std::exception& error) {
    serve_failed(call, reason_of(error), std::nullopt);
  }
}

// A small product takes as long as to save registers for what is seldom done: that is in other functions.
void serve(Call& call) {
  try {
    Context* const device = shared_device();
    if (const std::string* reason = out_of_use) {
      pass_on(call, *reason);
    } else {
      multiply(*device, call);
    }
  } catch (...) {
    serve_failed(call);
  }
}

}  // namespace

int first_illegal(const Sgemm& problem, const Positions& positions) {
  if (problem.m < 0) {
    return positions.m;
  }
  if (problem.n < 0) {
    return positions.n;
  }
  if (problem.k < 0) {
    return positions.k;
  }
  if (!is_leading_dimension(problem.lda, problem.a_op == Transpose::no ? problem.m : problem.k)) {
    return positions.lda;
  }
  if (!is_leading_dimension(problem.ldb, problem.b_op == Transpose::no ? problem.k : problem.n)) {
    return positions.ldb;
  }
  if (!is_leading_dimension(problem.ldc, problem.m)) {
    return positions.ldc;
  }
  return problem.batch < 0 ? positions.batch : 0;
}

void compute(Call& call) {
  note_reached();
  if (leaves_c_alone(call.problem)) {
    return;
  }
  if (strides_forwards(call.problem)) {
    serve(call);
  } else {
    one_by_one(call, compute);  // which serves it: serve() has one caller, and becomes a part of it
  }
}

}  // namespace duogemm::blas
