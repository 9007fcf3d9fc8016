// The entry point of cuBLASLt that is hidden.
#include "driver.h"
#include "entry.h"
#include "lt_call.h"

namespace duogemm::cublas {
namespace {

Outcome serve(const LtArguments& arguments, void* workspace, std::size_t bytes, cudaStream_t stream) {
  const LtCall found = sgemm_of(arguments);
  return found.not_served ? Outcome{found.not_served, is_capturing(stream)}
                          : serve(found.call, stream, cuda::Workspace{workspace, bytes});
}

}  // namespace
}  // namespace duogemm::cublas

using namespace duogemm::cublas;

// cuBLAS calls it too, for what was passed on to it.
extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc,
                                         const void* alpha, const void* A, cublasLtMatrixLayout_t Adesc,
                                         const void* B, cublasLtMatrixLayout_t Bdesc, const void* beta,
                                         const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                                         cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* algo,
                                         void* workspace, size_t workspaceSizeInBytes, cudaStream_t stream) {
  static Entry entry(next_cublaslt(), "cublasLtMatmul");
  const auto pass = [&] {
    return entry.pass(lightHandle, computeDesc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D, Ddesc, algo,
                      workspace, workspaceSizeInBytes, stream);
  };
  if (calls_in_cublas > 0) {
    return pass();
  }
  const Outcome outcome = lightHandle == nullptr
                              ? Outcome{Reason::judged}
                              : serve({computeDesc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D, Ddesc},
                                      workspace, workspaceSizeInBytes, stream);
  entry.count(outcome);
  return outcome.passed_on ? pass() : CUBLAS_STATUS_SUCCESS;
}
