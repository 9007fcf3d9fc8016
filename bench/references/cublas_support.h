// What the references through cuBLAS and cublasLt share.
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <string>

#include "runtime/executor.h"

namespace duogemm::bench {

// As much as cuBLAS takes for itself on the GPUs on which it takes most ("cublasSetWorkspace" in its manual).
inline constexpr std::size_t cublas_workspace_bytes = std::size_t{32} << 20;

// A handle on a queue, in true FP32, with its workspace, because cuBLAS would otherwise allocate one for each
// graph that captures its calls. It takes the pointers and the stream of our own backend: both live in the
// device's primary context, which the CUDA runtime inside cuBLAS uses too.
class CublasHandle {
 public:
  CublasHandle(Device& device, Queue& queue);
  ~CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;

  cublasHandle_t get() const { return handle_; }
  Device& device() const { return device_; }
  Queue& queue() const { return queue_; }
  std::string version() const;  // "13.1.0"

 private:
  Device& device_;
  Queue& queue_;
  std::unique_ptr<Buffer> workspace_;
  cublasHandle_t handle_ = nullptr;
};

// Throws device_error, or out_of_memory, with the text of the call.
void check_cublas(cublasStatus_t status, const char* call);

inline cublasOperation_t cublas_operation(Transpose op) {
  return op == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T;
}

inline float* cuda_pointer(const PreparedPlan::Operands& operands, Operand operand) {
  const MatrixPlace& place = operands[static_cast<std::size_t>(operand.slot)];
  return reinterpret_cast<float*>(place.buffer->native()) + place.offset;
}

inline cudaStream_t cuda_stream(const Queue& queue) { return reinterpret_cast<cudaStream_t>(queue.native()); }

// "13.1.0" for 130100.
std::string cublas_version_text(std::size_t version);

}  // namespace duogemm::bench

#define DUOGEMM_CUBLAS(call) ::duogemm::bench::check_cublas(call, #call)
