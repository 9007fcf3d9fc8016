#include "references/cublas_support.h"

namespace duogemm::bench {

void check_cublas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error,
                std::string("cuBLAS: ") + call + " returned " + cublasGetStatusString(status));
  }
}

std::string cublas_version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace duogemm::bench
