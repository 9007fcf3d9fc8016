// The entry points of cuBLAS that are hidden. Each describes its call, and has cuBLAS compute what is not
// served.
#include <cublas_v2.h>

#include <initializer_list>

#include "driver.h"
#include "entry.h"
#include "handle.h"
#include "system/log.h"

namespace duogemm::cublas {
namespace {

Transpose transpose_of(cublasOperation_t op) { return op == CUBLAS_OP_N ? Transpose::no : Transpose::yes; }

// C is m x n, op(A) is m x k.
Sgemm product(cublasOperation_t a_op, cublasOperation_t b_op, std::int64_t m, std::int64_t n, std::int64_t k,
              std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  Sgemm problem;
  problem.a_op = transpose_of(a_op);
  problem.b_op = transpose_of(b_op);
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.lda = lda;
  problem.ldb = ldb;
  problem.ldc = ldc;
  return problem;
}

Sgemm batched(Sgemm problem, std::int64_t batch, std::int64_t a_stride = 0, std::int64_t b_stride = 0,
              std::int64_t c_stride = 0) {
  problem.batch = batch;
  problem.a_stride = a_stride;
  problem.b_stride = b_stride;
  problem.c_stride = c_stride;
  return problem;
}

// What the entry points for all types are told of them.
struct Arithmetic {
  cudaDataType a = CUDA_R_32F;
  cudaDataType b = CUDA_R_32F;
  cudaDataType c = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

std::optional<Reason> not_fp32(const Arithmetic& types) {
  for (const cudaDataType type : {types.a, types.b, types.c}) {
    if (type != CUDA_R_32F) {
      return Reason::types;
    }
  }
  return types.compute == CUBLAS_COMPUTE_32F ? std::nullopt : std::optional(Reason::arithmetic);
}

bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

Outcome serve(cublasHandle_t handle, Call call, const Arithmetic& types) {
  const std::optional<Reason> other_types = not_fp32(types);
  if (other_types && !log_is_wanted()) {
    return {other_types};  // without asking what of the handle matters to the log alone
  }
  const HandleAnswer answer = ask(handle);
  if (other_types || answer.not_served) {
    return {other_types ? other_types : answer.not_served, is_capturing(answer.state.stream)};
  }
  call.device_scalars = answer.state.device_scalars;
  return serve(call, answer.state.stream, answer.state.workspace);
}

// Serves the call of an entry point, or hands on its arguments, which are `handle, a_op, b_op, others...`.
template <typename... Others>
cublasStatus_t run(Entry& entry, const Call& call, const Arithmetic& types, cublasHandle_t handle,
                   cublasOperation_t a_op, cublasOperation_t b_op, Others... others) {
  const Outcome outcome =
      is_operation(a_op) && is_operation(b_op) ? serve(handle, call, types) : Outcome{Reason::judged};
  entry.count(outcome);
  return outcome.passed_on ? entry.pass(handle, a_op, b_op, others...) : CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace duogemm::cublas

using namespace duogemm::cublas;

extern "C" {

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                              int m, int n, int k, const float* alpha, const float* A, int lda,
                              const float* B, int ldb, const float* beta, float* C, int ldc) {
  static Entry entry(next_cublas(), "cublasSgemm_v2");
  return run(entry, {product(transa, transb, m, n, k, lda, ldb, ldc), alpha, beta, A, B, C}, {}, handle,
             transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                 int64_t m, int64_t n, int64_t k, const float* alpha, const float* A,
                                 int64_t lda, const float* B, int64_t ldb, const float* beta, float* C,
                                 int64_t ldc) {
  static Entry entry(next_cublas(), "cublasSgemm_v2_64");
  return run(entry, {product(transa, transb, m, n, k, lda, ldb, ldc), alpha, beta, A, B, C}, {}, handle,
             transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                  int m, int n, int k, const float* alpha, const float* const Aarray[],
                                  int lda, const float* const Barray[], int ldb, const float* beta,
                                  float* const Carray[], int ldc, int batchCount) {
  static Entry entry(next_cublas(), "cublasSgemmBatched");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount), alpha, beta, Aarray,
              Barray, Carray, Batch::lists},
             {}, handle, transa, transb, m, n, k, alpha, Aarray, lda, Barray, ldb, beta, Carray, ldc,
             batchCount);
}

cublasStatus_t cublasSgemmBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                     const float* alpha, const float* const Aarray[], int64_t lda,
                                     const float* const Barray[], int64_t ldb, const float* beta,
                                     float* const Carray[], int64_t ldc, int64_t batchCount) {
  static Entry entry(next_cublas(), "cublasSgemmBatched_64");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount), alpha, beta, Aarray,
              Barray, Carray, Batch::lists},
             {}, handle, transa, transb, m, n, k, alpha, Aarray, lda, Barray, ldb, beta, Carray, ldc,
             batchCount);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                         const float* A, int lda, long long strideA, const float* B, int ldb,
                                         long long strideB, const float* beta, float* C, int ldc,
                                         long long strideC, int batchCount) {
  static Entry entry(next_cublas(), "cublasSgemmStridedBatched");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount, strideA, strideB, strideC),
              alpha, beta, A, B, C},
             {}, handle, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc,
             strideC, batchCount);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                            const float* alpha, const float* A, int64_t lda,
                                            long long strideA, const float* B, int64_t ldb, long long strideB,
                                            const float* beta, float* C, int64_t ldc, long long strideC,
                                            int64_t batchCount) {
  static Entry entry(next_cublas(), "cublasSgemmStridedBatched_64");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount, strideA, strideB, strideC),
              alpha, beta, A, B, C},
             {}, handle, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc,
             strideC, batchCount);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                            int n, int k, const void* alpha, const void* A, cudaDataType Atype, int lda,
                            const void* B, cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), "cublasGemmEx");
  return run(entry, {product(transa, transb, m, n, k, lda, ldb, ldc), alpha, beta, A, B, C},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, A, Atype, lda, B,
             Btype, ldb, beta, C, Ctype, ldc, computeType, algo);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                               int64_t m, int64_t n, int64_t k, const void* alpha, const void* A,
                               cudaDataType Atype, int64_t lda, const void* B, cudaDataType Btype,
                               int64_t ldb, const void* beta, void* C, cudaDataType Ctype, int64_t ldc,
                               cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), "cublasGemmEx_64");
  return run(entry, {product(transa, transb, m, n, k, lda, ldb, ldc), alpha, beta, A, B, C},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, A, Atype, lda, B,
             Btype, ldb, beta, C, Ctype, ldc, computeType, algo);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                   int m, int n, int k, const void* alpha, const void* const Aarray[],
                                   cudaDataType Atype, int lda, const void* const Barray[],
                                   cudaDataType Btype, int ldb, const void* beta, void* const Carray[],
                                   cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), "cublasGemmBatchedEx");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount), alpha, beta, Aarray,
              Barray, Carray, Batch::lists},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, Aarray, Atype, lda,
             Barray, Btype, ldb, beta, Carray, Ctype, ldc, batchCount, computeType, algo);
}

cublasStatus_t cublasGemmBatchedEx_64(cublasHandle_t handle, cublasOperation_t transa,
                                      cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                      const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                      int64_t lda, const void* const Barray[], cudaDataType Btype,
                                      int64_t ldb, const void* beta, void* const Carray[], cudaDataType Ctype,
                                      int64_t ldc, int64_t batchCount, cublasComputeType_t computeType,
                                      cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), "cublasGemmBatchedEx_64");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount), alpha, beta, Aarray,
              Barray, Carray, Batch::lists},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, Aarray, Atype, lda,
             Barray, Btype, ldb, beta, Carray, Ctype, ldc, batchCount, computeType, algo);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                          const void* A, cudaDataType Atype, int lda, long long strideA,
                                          const void* B, cudaDataType Btype, int ldb, long long strideB,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), "cublasGemmStridedBatchedEx");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount, strideA, strideB, strideC),
              alpha, beta, A, B, C},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, A, Atype, lda,
             strideA, B, Btype, ldb, strideB, beta, C, Ctype, ldc, strideC, batchCount, computeType, algo);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t transa,
                                             cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                             const void* alpha, const void* A, cudaDataType Atype,
                                             int64_t lda, long long strideA, const void* B,
                                             cudaDataType Btype, int64_t ldb, long long strideB,
                                             const void* beta, void* C, cudaDataType Ctype, int64_t ldc,
                                             long long strideC, int64_t batchCount,
                                             cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), "cublasGemmStridedBatchedEx_64");
  return run(entry,
             {batched(product(transa, transb, m, n, k, lda, ldb, ldc), batchCount, strideA, strideB, strideC),
              alpha, beta, A, B, C},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, A, Atype, lda,
             strideA, B, Btype, ldb, strideB, beta, C, Ctype, ldc, strideC, batchCount, computeType, algo);
}

// What becomes of a handle's workspace.

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t workspaceSizeInBytes) {
  static Entry entry(next_cublas(), "cublasSetWorkspace_v2");
  const cublasStatus_t status = entry.pass(handle, workspace, workspaceSizeInBytes);
  if (status == CUBLAS_STATUS_SUCCESS) {
    note_workspace(handle, workspace, workspaceSizeInBytes);
  }
  return status;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId) {
  static Entry entry(next_cublas(), "cublasSetStream_v2");
  forget_workspace(handle);
  return entry.pass(handle, streamId);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  static Entry entry(next_cublas(), "cublasDestroy_v2");
  forget_workspace(handle);
  return entry.pass(handle);
}
}
