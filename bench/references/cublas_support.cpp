#include "references/cublas_support.h"

namespace duogemm::bench {

void check_cublas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error,
                std::string("cuBLAS: ") + call + " returned " + cublasGetStatusString(status));
  }
}

CublasHandle::CublasHandle(Device& device, Queue& queue)
    : device_(device), queue_(queue), workspace_(device.allocate(cublas_workspace_bytes)) {
  queue.with_device([&] {
    DUOGEMM_CUBLAS(cublasCreate(&handle_));
    DUOGEMM_CUBLAS(cublasSetStream(handle_, cuda_stream(queue)));
    DUOGEMM_CUBLAS(
        cublasSetWorkspace(handle_, reinterpret_cast<void*>(workspace_->native()), cublas_workspace_bytes));
    DUOGEMM_CUBLAS(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH));  // FP32 throughout: TF32 is another mode
  });
}

CublasHandle::~CublasHandle() {
  queue_.with_device([&] { cublasDestroy(handle_); });
}

std::string CublasHandle::version() const {
  int version = 0;
  DUOGEMM_CUBLAS(cublasGetVersion(handle_, &version));
  return cublas_version_text(static_cast<std::size_t>(version));
}

std::string cublas_version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace duogemm::bench
