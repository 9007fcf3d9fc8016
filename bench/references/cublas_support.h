// The references through cuBLAS and cublasLt share this.
#pragma once

#include <cublas_v2.h>

#include "references/library_references.h"

namespace duogemm::bench {

// As much as cuBLAS takes for itself on the GPUs on which it takes most ("cublasSetWorkspace" in its manual).
inline constexpr std::size_t cublas_workspace_bytes = std::size_t{32} << 20;

// Throws device_error, or out_of_memory, with the text of the call.
void check_cublas(cublasStatus_t status, const char* call);

inline cublasOperation_t cublas_operation(Transpose op) {
  return op == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T;
}

inline cudaStream_t cuda_stream(const Queue& queue) { return reinterpret_cast<cudaStream_t>(queue.native()); }

inline void* cuda_memory(const Buffer& buffer) { return reinterpret_cast<void*>(buffer.native()); }

// "13.1.0" for 130100.
std::string cublas_version_text(std::size_t version);

}  // namespace duogemm::bench

#define DUOGEMM_CUBLAS(call) ::duogemm::bench::check_cublas(call, #call)
