// The products of cuBLAS, once for each type of sizes: INT is the type, ENTRY(name) what a function is
// called, and NAME(name) that as text.

cublasStatus_t ENTRY(cublasSgemm_v2)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,
                                     INT m, INT n, INT k, const float* alpha, const float* a, INT lda,
                                     const float* b, INT ldb, const float* beta, float* c, INT ldc) {
  return note(NAME(cublasSgemm_v2), int{transa}, int{transb}, m, n, k, value(alpha), at(a), lda, at(b), ldb,
              value(beta), at(c), ldc);
}

cublasStatus_t ENTRY(cublasSgemmBatched)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,
                                         INT m, INT n, INT k, const float* alpha, const float* const a[],
                                         INT lda, const float* const b[], INT ldb, const float* beta,
                                         float* const c[], INT ldc, INT batch) {
  return note(NAME(cublasSgemmBatched), int{transa}, int{transb}, m, n, k, value(alpha), at(a), lda, at(b),
              ldb, value(beta), at(c), ldc, batch);
}

cublasStatus_t ENTRY(cublasSgemmStridedBatched)(cublasHandle_t, cublasOperation_t transa,
                                                cublasOperation_t transb, INT m, INT n, INT k,
                                                const float* alpha, const float* a, INT lda,
                                                long long stride_a, const float* b, INT ldb,
                                                long long stride_b, const float* beta, float* c, INT ldc,
                                                long long stride_c, INT batch) {
  return note(NAME(cublasSgemmStridedBatched), int{transa}, int{transb}, m, n, k, value(alpha), at(a), lda,
              stride_a, at(b), ldb, stride_b, value(beta), at(c), ldc, stride_c, batch);
}

cublasStatus_t ENTRY(cublasGemmEx)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, INT m,
                                   INT n, INT k, const void* alpha, const void* a, cudaDataType a_type,
                                   INT lda, const void* b, cudaDataType b_type, INT ldb, const void* beta,
                                   void* c, cudaDataType c_type, INT ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algo) {
  return note(NAME(cublasGemmEx), int{transa}, int{transb}, m, n, k, value(alpha), at(a), int{a_type}, lda,
              at(b), int{b_type}, ldb, value(beta), at(c), int{c_type}, ldc, int{compute}, int{algo});
}

cublasStatus_t ENTRY(cublasGemmBatchedEx)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,
                                          INT m, INT n, INT k, const void* alpha, const void* const a[],
                                          cudaDataType a_type, INT lda, const void* const b[],
                                          cudaDataType b_type, INT ldb, const void* beta, void* const c[],
                                          cudaDataType c_type, INT ldc, INT batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algo) {
  return note(NAME(cublasGemmBatchedEx), int{transa}, int{transb}, m, n, k, value(alpha), at(a), int{a_type},
              lda, at(b), int{b_type}, ldb, value(beta), at(c), int{c_type}, ldc, batch, int{compute},
              int{algo});
}

cublasStatus_t ENTRY(cublasGemmStridedBatchedEx)(
    cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, INT m, INT n, INT k,
    const void* alpha, const void* a, cudaDataType a_type, INT lda, long long stride_a, const void* b,
    cudaDataType b_type, INT ldb, long long stride_b, const void* beta, void* c, cudaDataType c_type, INT ldc,
    long long stride_c, INT batch, cublasComputeType_t compute, cublasGemmAlgo_t algo) {
  return note(NAME(cublasGemmStridedBatchedEx), int{transa}, int{transb}, m, n, k, value(alpha), at(a),
              int{a_type}, lda, stride_a, at(b), int{b_type}, ldb, stride_b, value(beta), at(c), int{c_type},
              ldc, stride_c, batch, int{compute}, int{algo});
}
