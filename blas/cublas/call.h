// A product that a program asks of cuBLAS, by whichever entry point, and whether duogemm computes it.
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
  scalars,     // of cublasLtMatmul: vectors of alpha or beta
  epilogue,    // of cublasLtMatmul, other than a bias, RELU and GELU
  form,        // of cublasLtMatmul: an order of elements, sizes
  judged,      // nothing to compute, or arguments for cuBLAS to judge
  failed,      // duogemm could not
};
inline constexpr int reasons = 7;

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
  bool device_scalars = false;   // alpha and beta are in device memory
  cuda::Epilogue epilogue = {};  // without alpha and beta
};

// What became of a call: why it was not served, if it was not, and whether it is part of a CUDA graph.
struct Outcome {
  std::optional<Reason> passed_on;
  bool captured = false;
};

// As NVIDIA's driver says, which is there when a handle of cuBLAS is.
bool is_capturing(cudaStream_t stream);

// Puts the call on the stream; where it cannot be done, nothing was enqueued. Within a capture it takes the
// workspace that the program has set, if that does.
Outcome serve(Call call, cudaStream_t stream, const cuda::Workspace& lent);

}  // namespace duogemm::cublas
