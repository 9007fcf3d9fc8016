#include "call.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "driver.h"
#include "permitted.h"
#include "system/log.h"

namespace duogemm::cublas {
namespace {

// cuBLAS judges the others: it has the status for each.
bool is_product(const Call& call) {
  const Sgemm& p = call.problem;
  const auto is_leading_dimension = [](std::int64_t value, std::int64_t rows) {
    return value >= std::max<std::int64_t>(rows, 1);
  };
  return p.m > 0 && p.n > 0 && p.k > 0 && p.batch > 0 && call.alpha != nullptr && call.beta != nullptr &&
         call.a != nullptr && call.b != nullptr && call.c != nullptr &&
         is_leading_dimension(p.lda, p.a_op == Transpose::no ? p.m : p.k) &&
         is_leading_dimension(p.ldb, p.b_op == Transpose::no ? p.k : p.n) && is_leading_dimension(p.ldc, p.m);
}

// cuBLAS's own variable: FP32 is to be computed in BF16.
bool emulation_is_asked() {
  static const bool asked = [] {
    const char* const value = std::getenv("CUBLAS_EMULATE_SINGLE_PRECISION");
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
  }();
  return asked;
}

// `workspace` is nothing, or one workspace.
template <typename... Workspace>
void multiply(const Call& call, cudaStream_t stream, const Workspace&... workspace) {
  if (call.by == Batch::lists) {
    cuda::sgemm_batched(stream, call.problem, static_cast<const float* const*>(call.a),
                        static_cast<const float* const*>(call.b), static_cast<float* const*>(call.c),
                        workspace...);
  } else if (call.bias != nullptr) {
    cuda::sgemm_with_bias(stream, call.problem, static_cast<const float*>(call.a),
                          static_cast<const float*>(call.b), static_cast<float*>(const_cast<void*>(call.c)),
                          {call.bias, call.bias_stride}, workspace...);
  } else {
    cuda::sgemm(stream, call.problem, static_cast<const float*>(call.a), static_cast<const float*>(call.b),
                static_cast<float*>(const_cast<void*>(call.c)), workspace...);
  }
}

// Of what is lent, what a call takes that needs so many bytes; nothing where it does not do.
std::optional<cuda::Workspace> taken(const cuda::Workspace& lent, std::size_t bytes) {
  constexpr std::uintptr_t alignment = 256;
  if (bytes == 0) {
    return cuda::Workspace{};
  }
  return lent.pointer != nullptr && lent.bytes >= bytes &&
                 reinterpret_cast<std::uintptr_t>(lent.pointer) % alignment == 0
             ? std::optional(lent)
             : std::nullopt;
}

// Answers whether the workspace does; if not, nothing is enqueued.
bool multiply_in_capture(const Call& call, cudaStream_t stream, const cuda::Workspace& lent) {
  const bool lists = call.by == Batch::lists;
  const std::optional<cuda::Workspace> workspace =
      taken(lent, lists ? cuda::sgemm_batched_workspace_bytes(stream, call.problem)
                        : cuda::sgemm_workspace_bytes(stream, call.problem));
  if (workspace) {
    multiply(call, stream, *workspace);
  }
  return workspace.has_value();
}

// Whether it could be done. If not, nothing was enqueued.
bool enqueue(const Call& call, cudaStream_t stream, const cuda::Workspace& lent) {
  if (!is_capturing(stream)) {
    multiply(call, stream);
    return true;
  }
  const RelaxedCapture relaxed;
  return multiply_in_capture(call, stream, lent);
}

// Set when duogemm cannot serve this process, so that no call tries again.
std::atomic<bool> given_up = false;

// Some calls are duogemm's own limits, as results that overlap, or lack of memory; the next may be served.
void note_failure(const std::exception& failure) {
  const auto* error = dynamic_cast<const Error*>(&failure);
  const bool once = error != nullptr &&
                    (error->status() == Status::invalid_argument || error->status() == Status::out_of_memory);
  static std::atomic<bool> warned = false;
  if (!warned.exchange(true)) {
    warn_line(std::string(failure.what()) + "; cuBLAS computes " + (once ? "such calls" : "from now on"));
  }
  if (!once) {
    given_up = true;
  }
}

}  // namespace

std::optional<Reason> serve(Call call, cudaStream_t stream, const cuda::Workspace& lent) {
  if (!is_product(call)) {
    return Reason::judged;
  }
  if (emulation_is_asked()) {
    return Reason::arithmetic;
  }
  if (given_up.load(std::memory_order_relaxed)) {
    return Reason::failed;
  }
  static const Precision precision = blas::permitted_precision();
  call.problem.precision = precision;
  call.problem.alpha = *static_cast<const float*>(call.alpha);
  call.problem.beta = call.bias != nullptr ? 1.0f : *static_cast<const float*>(call.beta);
  try {
    if (!enqueue(call, stream, lent)) {
      return Reason::workspace;
    }
  } catch (const std::exception& failure) {
    note_failure(failure);
    return Reason::failed;
  }
  return std::nullopt;
}

}  // namespace duogemm::cublas
