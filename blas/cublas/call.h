// A product that a program asks of cuBLAS, whichever entry point it came through, and whether duogemm
// computes it.
#pragma once

#include <cublas_api.h>

#include <cstdint>
#include <optional>

#include "duogemm/cuda.hpp"

namespace duogemm::cublas {

// Why a call is passed on to cuBLAS.
enum class Reason {
  types,       // other types than FP32
  arithmetic,  // TF32, pedantic, or an emulation
  scalars,     // alpha and beta are in device memory
  epilogue,    // of cublasLtMatmul, other than a bias
  form,        // of cublasLtMatmul: an order of elements, sizes, a C apart from D
  judged,      // nothing to compute, or arguments for cuBLAS to judge
  workspace,   // a capture whose workspace does not do
  failed,      // duogemm could not
};
inline constexpr int reasons = 8;

// How the matrices of a batch are found.
enum class Batch { strides, lists };

struct Call {
  Sgemm problem;  // column-major; alpha and beta are set when the call is served
  const void* alpha;
  const void* beta;
  const void* a;
  const void* b;
  const void* c;  // written; the list of a batch is not
  Batch by = Batch::strides;
  const float* bias = nullptr;  // added to each column of the result; beta is 0 then
  std::int64_t bias_stride = 0;
};

// Puts the call on the stream. Within a capture it needs a workspace of the caller's, because graphs may run
// side by side. Answers why it cannot be done, and then nothing was enqueued.
std::optional<Reason> serve(Call call, cudaStream_t stream, const cuda::Workspace& lent);

}  // namespace duogemm::cublas
