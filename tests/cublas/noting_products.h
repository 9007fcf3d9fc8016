// The products of cuBLAS, once for each type of sizes: INT is the type, ENTRY(name) what a function is
// called, and NAME(name) that as text.

cublasStatus_t ENTRY(cublasSgemm_v2)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,
                                     INT m, INT n, INT k, const float* alpha, const float* a, INT lda,
                                     const float* b, INT ldb, const float* beta, float* c, INT ldc) {
  return note(NAME(cublasSgemm_v2), transa, transb, m, n, k, value(alpha), a, lda, b, ldb, value(beta), c,
              ldc);
}

cublasStatus_t ENTRY(cublasSgemmBatched)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,
                                         INT m, INT n, INT k, const float* alpha, const float* const a[],
                                         INT lda, const float* const b[], INT ldb, const float* beta,
                                         float* const c[], INT ldc, INT batch) {
  return note(NAME(cublasSgemmBatched), transa, transb, m, n, k, value(alpha), a, lda, b, ldb, value(beta), c,
              ldc, batch);
}

cublasStatus_t ENTRY(cublasSgemmStridedBatched)(cublasHandle_t, cublasOperation_t transa,
                                                cublasOperation_t transb, INT m, INT n, INT k,
                                                const float* alpha, const float* a, INT lda,
                                                long long stride_a, const float* b, INT ldb,
                                                long long stride_b, const float* beta, float* c, INT ldc,
                                                long long stride_c, INT batch) {
  return note(NAME(cublasSgemmStridedBatched), transa, transb, m, n, k, value(alpha), a, lda, stride_a, b,
              ldb, stride_b, value(beta), c, ldc, stride_c, batch);
}

cublasStatus_t ENTRY(cublasGemmEx)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, INT m,
                                   INT n, INT k, const void* alpha, const void* a, cudaDataType a_type,
                                   INT lda, const void* b, cudaDataType b_type, INT ldb, const void* beta,
                                   void* c, cudaDataType c_type, INT ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algo) {
  return note(NAME(cublasGemmEx), transa, transb, m, n, k, value(alpha), a, a_type, lda, b, b_type, ldb,
              value(beta), c, c_type, ldc, compute, algo);
}

cublasStatus_t ENTRY(cublasGemmBatchedEx)(cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb,
                                          INT m, INT n, INT k, const void* alpha, const void* const a[],
                                          cudaDataType a_type, INT lda, const void* const b[],
                                          cudaDataType b_type, INT ldb, const void* beta, void* const c[],
                                          cudaDataType c_type, INT ldc, INT batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algo) {
  return note(NAME(cublasGemmBatchedEx), transa, transb, m, n, k, value(alpha), a, a_type, lda, b, b_type,
              ldb, value(beta), c, c_type, ldc, batch, compute, algo);
}

cublasStatus_t ENTRY(cublasGemmStridedBatchedEx)(
    cublasHandle_t, cublasOperation_t transa, cublasOperation_t transb, INT m, INT n, INT k,
    const void* alpha, const void* a, cudaDataType a_type, INT lda, long long stride_a, const void* b,
    cudaDataType b_type, INT ldb, long long stride_b, const void* beta, void* c, cudaDataType c_type, INT ldc,
    long long stride_c, INT batch, cublasComputeType_t compute, cublasGemmAlgo_t algo) {
  return note(NAME(cublasGemmStridedBatchedEx), transa, transb, m, n, k, value(alpha), a, a_type, lda,
              stride_a, b, b_type, ldb, stride_b, value(beta), c, c_type, ldc, stride_c, batch, compute,
              algo);
}
