// Opens cuBLAS and cublasLt, of the version whose headers the build has, when they are first asked for.
#pragma once

#include <cublasLt.h>
#include <cublasXt.h>

#include <string>

namespace duogemm::bench {

// The functions in use, as driver functions are in cuda/cuda_device.h. The inline functions of cublasLt's
// header call those with _internal.
#define DUOGEMM_CUBLAS_FUNCTIONS(X)        \
  X(cublasCreate)                          \
  X(cublasDestroy)                         \
  X(cublasGetProperty)                     \
  X(cublasGetStatusString)                 \
  X(cublasLtCreate)                        \
  X(cublasLtDestroy)                       \
  X(cublasLtGetProperty)                   \
  X(cublasLtMatmul)                        \
  X(cublasLtMatmulAlgoGetHeuristic)        \
  X(cublasLtMatmulDescInit_internal)       \
  X(cublasLtMatmulDescSetAttribute)        \
  X(cublasLtMatmulPreferenceInit_internal) \
  X(cublasLtMatmulPreferenceSetAttribute)  \
  X(cublasLtMatrixLayoutInit_internal)     \
  X(cublasLtMatrixLayoutSetAttribute)      \
  X(cublasSetMathMode)                     \
  X(cublasSetStream)                       \
  X(cublasSetWorkspace)                    \
  X(cublasSgemm)                           \
  X(cublasSgemmBatched)                    \
  X(cublasSgemmStridedBatched)             \
  X(cublasXtCreate)                        \
  X(cublasXtDestroy)                       \
  X(cublasXtDeviceSelect)                  \
  X(cublasXtSetBlockDim)                   \
  X(cublasXtSgemm)

struct CublasFunctions {
#define DUOGEMM_CUBLAS_MEMBER(name) decltype(&::name) name;
  DUOGEMM_CUBLAS_FUNCTIONS(DUOGEMM_CUBLAS_MEMBER)
#undef DUOGEMM_CUBLAS_MEMBER
  // The header overloads these, for programs of earlier versions.
  cublasStatus_t (*cublasGemmEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                 const void* alpha, const void* a, cudaDataType, int lda, const void* b,
                                 cudaDataType, int ldb, const void* beta, void* c, cudaDataType, int ldc,
                                 cublasComputeType_t, cublasGemmAlgo_t);
  cublasStatus_t (*cublasGemmStridedBatchedEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m,
                                               int n, int k, const void* alpha, const void* a, cudaDataType,
                                               int lda, long long a_stride, const void* b, cudaDataType,
                                               int ldb, long long b_stride, const void* beta, void* c,
                                               cudaDataType, int ldc, long long c_stride, int batch,
                                               cublasComputeType_t, cublasGemmAlgo_t);
#if CUBLAS_VERSION >= 130000
  cublasStatus_t (*cublasSetEmulationStrategy)(cublasHandle_t, cublasEmulationStrategy_t);
#endif
};

// Null where there is none; a warning then says, once, how to get it.
const CublasFunctions* cublas();

// GEMMul8 (github.com/RIKEN-RCCS/GEMMul8) multiplies by Ozaki's second scheme under cuBLAS's names, as its
// variables of the environment say.
struct Gemmul8 {
  decltype(CublasFunctions::cublasSgemm) sgemm = nullptr;
  decltype(CublasFunctions::cublasDestroy) destroy = nullptr;  // of a handle that the other got
  int moduli = 0;
  std::string absence;  // why there is none; empty where there is one
};
const Gemmul8& gemmul8();

}  // namespace duogemm::bench
