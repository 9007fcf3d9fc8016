#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "entry.h"
#include "next.h"
#include "system/log.h"
#include "system/shared_library.h"

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

void multiply(const Call& call, cudaStream_t stream, const std::optional<cuda::Workspace>& workspace) {
  if (call.by == Batch::lists) {
    cuda::sgemm_batched_with_epilogue(stream, call.problem, static_cast<const float* const*>(call.a),
                                      static_cast<const float* const*>(call.b),
                                      static_cast<float* const*>(call.c), call.epilogue, workspace);
  } else {
    cuda::sgemm_with_epilogue(stream, call.problem, static_cast<const float*>(call.a),
                              static_cast<const float*>(call.b),
                              static_cast<float*>(const_cast<void*>(call.c)), call.epilogue, workspace);
  }
}

// Takes what is lent, if it does for the call.
std::optional<cuda::Workspace> taken(const cuda::Workspace& lent, const Call& call, cudaStream_t stream) {
  constexpr std::uintptr_t alignment = 256;
  if (lent.pointer == nullptr || reinterpret_cast<std::uintptr_t>(lent.pointer) % alignment != 0) {
    return std::nullopt;
  }
  const std::size_t needed = call.by == Batch::lists
                                 ? cuda::sgemm_batched_workspace_bytes(stream, call.problem, call.epilogue)
                                 : cuda::sgemm_workspace_bytes(stream, call.problem, call.epilogue);
  return lent.bytes >= needed ? std::optional(lent) : std::nullopt;
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

bool is_capturing(cudaStream_t stream) {
  using Query = decltype(cuStreamIsCapturing);
  // By the name that the macros of cuda.h make of it where streams are those of threads, too.
  static Query* const query = [] {
    Query* found = nullptr;
    SharedLibrary({"libcuda.so.1"}).find("cuStreamIsCapturing", found);
    return found;
  }();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return query != nullptr && query(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Outcome serve(Call call, cudaStream_t stream, const cuda::Workspace& lent) {
  Outcome outcome{{}, is_capturing(stream)};
  if (!is_product(call)) {
    outcome.passed_on = Reason::judged;
  } else if (emulation_is_asked()) {
    outcome.passed_on = Reason::arithmetic;
  } else if (given_up.load(std::memory_order_relaxed)) {
    outcome.passed_on = Reason::failed;
  }
  if (outcome.passed_on) {
    return outcome;
  }
  const blas::Asked& asked = blas::asked_by_environment();
  call.problem.precision = asked.precision;
  call.problem.level = asked.level;
  if (call.device_scalars) {
    call.epilogue.alpha = static_cast<const float*>(call.alpha);
    call.epilogue.beta = static_cast<const float*>(call.beta);
  } else {
    call.problem.alpha = *static_cast<const float*>(call.alpha);
    call.problem.beta = *static_cast<const float*>(call.beta);
  }
  try {
    multiply(call, stream, outcome.captured ? taken(lent, call, stream) : std::nullopt);
  } catch (const std::exception& failure) {
    note_failure(failure);
    outcome.passed_on = Reason::failed;
  }
  return outcome;
}

}  // namespace duogemm::cublas
