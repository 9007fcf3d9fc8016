// A cuBLAS and cuBLASLt that compute nothing: handles keep what is set, and products are noted.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstring>
#include <map>

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

// Values that were set of a product or a layout of cuBLASLt.
using Attributes = std::map<int, std::string>;

template <typename Opaque>
Attributes& attributes(Opaque* of) {
  return *reinterpret_cast<Attributes*>(of);
}

template <typename Opaque>
Opaque* opaque(Attributes* attributes) {
  return reinterpret_cast<Opaque*>(attributes);
}

template <typename T>
std::string bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

cublasStatus_t get(const Attributes& all, int which, void* buffer, std::size_t size, std::size_t* written) {
  const auto found = all.find(which);
  if (found == all.end() || found->second.size() != size) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(buffer, found->second.data(), size);
  *written = size;
  return CUBLAS_STATUS_SUCCESS;
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

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  auto* const all = new Attributes;
  (*all)[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = bytes(static_cast<int32_t>(compute));
  (*all)[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = bytes(static_cast<int32_t>(scale));
  (*all)[CUBLASLT_MATMUL_DESC_POINTER_MODE] = bytes(static_cast<int32_t>(CUBLASLT_POINTER_MODE_HOST));
  (*all)[CUBLASLT_MATMUL_DESC_EPILOGUE] = bytes(static_cast<uint32_t>(CUBLASLT_EPILOGUE_DEFAULT));
  (*all)[CUBLASLT_MATMUL_DESC_FILL_MODE] = bytes(static_cast<int32_t>(CUBLAS_FILL_MODE_FULL));
  for (const auto transpose :
       {CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_TRANSC}) {
    (*all)[transpose] = bytes(static_cast<int32_t>(CUBLAS_OP_N));
  }
  return answer(product, opaque<cublasLtMatmulDescOpaque_t>(all));
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete &attributes(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which, const void* buffer,
                                              size_t size) {
  attributes(product)[which] = {static_cast<const char*>(buffer), size};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which, void* buffer, size_t size,
                                              size_t* written) {
  return get(attributes(product), which, buffer, size, written);
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  auto* const all = new Attributes;
  (*all)[CUBLASLT_MATRIX_LAYOUT_TYPE] = bytes(static_cast<uint32_t>(type));
  (*all)[CUBLASLT_MATRIX_LAYOUT_ORDER] = bytes(static_cast<int32_t>(CUBLASLT_ORDER_COL));
  (*all)[CUBLASLT_MATRIX_LAYOUT_ROWS] = bytes(rows);
  (*all)[CUBLASLT_MATRIX_LAYOUT_COLS] = bytes(cols);
  (*all)[CUBLASLT_MATRIX_LAYOUT_LD] = bytes(ld);
  return answer(layout, opaque<cublasLtMatrixLayoutOpaque_t>(all));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &attributes(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, const void* buffer,
                                                size_t size) {
  attributes(layout)[which] = {static_cast<const char*>(buffer), size};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, void* buffer,
                                                size_t size, size_t* written) {
  return get(attributes(layout), which, buffer, size, written);
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
