// A cuBLAS and cuBLASLt that compute nothing: handles keep what is set, and products are noted.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include "netlib/noting_blas.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

namespace {

std::vector<std::string> calls;

template <typename... Arguments>
cublasStatus_t note(const char* name, const Arguments&... arguments) {
  calls.push_back(noted(name, arguments...));
  return CUBLAS_STATUS_ALLOC_FAILED;  // which nothing but this library answers
}

template <typename T>
cublasStatus_t answer(T* to, const T& value) {
  *to = value;
  return CUBLAS_STATUS_SUCCESS;
}

std::string value(const void* scalar) {
  return scalar == nullptr ? "null" : std::to_string(*static_cast<const float*>(scalar));
}

}  // namespace

std::vector<std::string>& calls_of_next_blas() { return calls; }

extern "C" {

// Tells whether dlsym takes another library for the one that asks: after this one there is no such function.
bool finds_itself_after() { return dlsym(RTLD_NEXT, "finds_itself_after") != nullptr; }

int count_of_calls() { return static_cast<int>(calls.size()); }

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) { return answer(handle, new cublasContext); }
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return answer(&handle->stream, stream);
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return answer(stream, handle->stream);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return answer(&handle->pointer_mode, mode);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return answer(mode, handle->pointer_mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return answer(&handle->math_mode, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return answer(mode, handle->math_mode);
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void* workspace, size_t bytes) {
  note("cublasSetWorkspace_v2", workspace, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)
#define NAME(name) TEXT_OF(ENTRY(name))
#define INT int
#define ENTRY(name) name
#include "noting_products.h"
#undef INT
#undef ENTRY
#define INT int64_t
#define ENTRY(name) name##_64
#include "noting_products.h"

// Products and layouts have no attributes here.
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, void*,
                                              size_t, size_t*) {
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
                                                void*, size_t, size_t*) {
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  return note("cublasLtMatmul", handle, product, value(alpha), a, a_layout, b, b_layout, value(beta), c,
              c_layout, d, d_layout, algo, workspace, workspace_bytes, stream);
}
}
