// The entry points of cuBLAS for products, whose sizes are of the type SIZE. ENTRY makes their names.

cublasStatus_t ENTRY(cublasSgemm_v2)(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, SIZE m, SIZE n, SIZE k, const float* alpha,
                                     const float* A, SIZE lda, const float* B, SIZE ldb, const float* beta,
                                     float* C, SIZE ldc) {
  static Entry entry(next_cublas(), TEXT(ENTRY(cublasSgemm_v2)));
  return run(entry, {product(transa, transb, m, n, k, lda, ldb, ldc), alpha, beta, A, B, C}, {}, handle,
             transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

cublasStatus_t ENTRY(cublasSgemmBatched)(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, SIZE m, SIZE n, SIZE k, const float* alpha,
                                         const float* const Aarray[], SIZE lda, const float* const Barray[],
                                         SIZE ldb, const float* beta, float* const Carray[], SIZE ldc,
                                         SIZE batchCount) {
  static Entry entry(next_cublas(), TEXT(ENTRY(cublasSgemmBatched)));
  return run(entry,
             {product(transa, transb, m, n, k, lda, ldb, ldc, batchCount), alpha, beta, Aarray, Barray,
              Carray, Batch::lists},
             {}, handle, transa, transb, m, n, k, alpha, Aarray, lda, Barray, ldb, beta, Carray, ldc,
             batchCount);
}

cublasStatus_t ENTRY(cublasSgemmStridedBatched)(cublasHandle_t handle, cublasOperation_t transa,
                                                cublasOperation_t transb, SIZE m, SIZE n, SIZE k,
                                                const float* alpha, const float* A, SIZE lda,
                                                long long strideA, const float* B, SIZE ldb,
                                                long long strideB, const float* beta, float* C, SIZE ldc,
                                                long long strideC, SIZE batchCount) {
  static Entry entry(next_cublas(), TEXT(ENTRY(cublasSgemmStridedBatched)));
  return run(entry,
             {product(transa, transb, m, n, k, lda, ldb, ldc, batchCount, strideA, strideB, strideC), alpha,
              beta, A, B, C},
             {}, handle, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc,
             strideC, batchCount);
}

cublasStatus_t ENTRY(cublasGemmEx)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                   SIZE m, SIZE n, SIZE k, const void* alpha, const void* A,
                                   cudaDataType Atype, SIZE lda, const void* B, cudaDataType Btype, SIZE ldb,
                                   const void* beta, void* C, cudaDataType Ctype, SIZE ldc,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), TEXT(ENTRY(cublasGemmEx)));
  return run(entry, {product(transa, transb, m, n, k, lda, ldb, ldc), alpha, beta, A, B, C},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, A, Atype, lda, B,
             Btype, ldb, beta, C, Ctype, ldc, computeType, algo);
}

cublasStatus_t ENTRY(cublasGemmBatchedEx)(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, SIZE m, SIZE n, SIZE k, const void* alpha,
                                          const void* const Aarray[], cudaDataType Atype, SIZE lda,
                                          const void* const Barray[], cudaDataType Btype, SIZE ldb,
                                          const void* beta, void* const Carray[], cudaDataType Ctype,
                                          SIZE ldc, SIZE batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), TEXT(ENTRY(cublasGemmBatchedEx)));
  return run(entry,
             {product(transa, transb, m, n, k, lda, ldb, ldc, batchCount), alpha, beta, Aarray, Barray,
              Carray, Batch::lists},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, Aarray, Atype, lda,
             Barray, Btype, ldb, beta, Carray, Ctype, ldc, batchCount, computeType, algo);
}

cublasStatus_t ENTRY(cublasGemmStridedBatchedEx)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, SIZE m, SIZE n, SIZE k,
    const void* alpha, const void* A, cudaDataType Atype, SIZE lda, long long strideA, const void* B,
    cudaDataType Btype, SIZE ldb, long long strideB, const void* beta, void* C, cudaDataType Ctype, SIZE ldc,
    long long strideC, SIZE batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
  static Entry entry(next_cublas(), TEXT(ENTRY(cublasGemmStridedBatchedEx)));
  return run(entry,
             {product(transa, transb, m, n, k, lda, ldb, ldc, batchCount, strideA, strideB, strideC), alpha,
              beta, A, B, C},
             {Atype, Btype, Ctype, computeType}, handle, transa, transb, m, n, k, alpha, A, Atype, lda,
             strideA, B, Btype, ldb, strideB, beta, C, Ctype, ldc, strideC, batchCount, computeType, algo);
}
