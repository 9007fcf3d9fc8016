// What a handle of cuBLAS says of the calls that are made with it.
#pragma once

#include <cublas_api.h>

#include <optional>

#include "call.h"

namespace duogemm::cublas {

struct HandleState {
  cudaStream_t stream;
  cuda::Workspace workspace;  // what the program has set, if it has
  bool device_scalars;        // alpha and beta are in device memory
};

// Whether the handle's calls compute in plain FP32.
struct HandleAnswer {
  std::optional<Reason> not_served;
  HandleState state;
};
HandleAnswer ask(cublasHandle_t handle);

// cuBLAS does not tell a handle's workspace: this notes what was set, until it is set anew, the stream is set
// or the handle is destroyed.
void note_workspace(cublasHandle_t handle, void* workspace, std::size_t bytes);
void forget_workspace(cublasHandle_t handle);

}  // namespace duogemm::cublas
