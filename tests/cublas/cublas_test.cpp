// The drop-in library passes on these calls, in a program that has it by link order, and after it a cuBLAS
// that only notes its calls. No CUDA context is current here, so that nothing is served.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include "noting_cublas.h"

namespace {

constexpr auto noted_status = CUBLAS_STATUS_ALLOC_FAILED;
constexpr auto n = CUBLAS_OP_N;
constexpr auto t = CUBLAS_OP_T;
constexpr auto fp32 = CUDA_R_32F;
constexpr auto compute = CUBLAS_COMPUTE_32F;
constexpr auto algo = CUBLAS_GEMM_DEFAULT;
constexpr int as_n = CUBLAS_OP_N;
constexpr int as_t = CUBLAS_OP_T;
constexpr int as_fp32 = CUDA_R_32F;
constexpr int as_compute = CUBLAS_COMPUTE_32F;
constexpr int as_algo = CUBLAS_GEMM_DEFAULT;

class CublasPassedOn : public ::testing::Test {
 protected:
  CublasPassedOn() {
    EXPECT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    calls_of_next_cublas().clear();
  }
  ~CublasPassedOn() override { cublasDestroy(handle_); }

  // The one call that cuBLAS has got meanwhile, which answered `status`.
  static void expect_passed_on(cublasStatus_t status, const std::string& call) {
    EXPECT_EQ(status, noted_status);
    EXPECT_EQ(calls_of_next_cublas(), std::vector<std::string>{call});
    calls_of_next_cublas().clear();
  }

  cublasHandle_t handle_ = nullptr;
  float alpha_ = 2.0f;
  float beta_ = 3.0f;
  const std::string two_ = std::to_string(2.0f);
  const std::string three_ = std::to_string(3.0f);
  float place_[3] = {};
  float* a_ = place_;
  float* b_ = place_ + 1;
  float* c_ = place_ + 2;
  const void* at_a_ = a_;
  const void* at_b_ = b_;
  const void* at_c_ = c_;
};

TEST_F(CublasPassedOn, Sgemm) {
  expect_passed_on(cublasSgemm(handle_, n, t, 1, 2, 3, &alpha_, a_, 4, b_, 5, &beta_, c_, 6),
                   noted("cublasSgemm_v2", as_n, as_t, 1, 2, 3, two_, at_a_, 4, at_b_, 5, three_, at_c_, 6));
  expect_passed_on(
      cublasSgemm_64(handle_, n, t, 1, 2, 3, &alpha_, a_, 4, b_, 5, &beta_, c_, 6),
      noted("cublasSgemm_v2_64", as_n, as_t, 1, 2, 3, two_, at_a_, 4, at_b_, 5, three_, at_c_, 6));
}

TEST_F(CublasPassedOn, SgemmBatched) {
  float *as[] = {a_}, *bs[] = {b_}, *cs[] = {c_};
  const void *at_as = as, *at_bs = bs, *at_cs = cs;
  expect_passed_on(
      cublasSgemmBatched(handle_, t, n, 1, 2, 3, &alpha_, as, 4, bs, 5, &beta_, cs, 6, 7),
      noted("cublasSgemmBatched", as_t, as_n, 1, 2, 3, two_, at_as, 4, at_bs, 5, three_, at_cs, 6, 7));
  expect_passed_on(
      cublasSgemmBatched_64(handle_, t, n, 1, 2, 3, &alpha_, as, 4, bs, 5, &beta_, cs, 6, 7),
      noted("cublasSgemmBatched_64", as_t, as_n, 1, 2, 3, two_, at_as, 4, at_bs, 5, three_, at_cs, 6, 7));
}

TEST_F(CublasPassedOn, SgemmStridedBatched) {
  expect_passed_on(
      cublasSgemmStridedBatched(handle_, t, n, 1, 2, 3, &alpha_, a_, 4, 40, b_, 5, 50, &beta_, c_, 6, 60, 7),
      noted("cublasSgemmStridedBatched", as_t, as_n, 1, 2, 3, two_, at_a_, 4, 40, at_b_, 5, 50, three_, at_c_,
            6, 60, 7));
  expect_passed_on(cublasSgemmStridedBatched_64(handle_, t, n, 1, 2, 3, &alpha_, a_, 4, 40, b_, 5, 50, &beta_,
                                                c_, 6, 60, 7),
                   noted("cublasSgemmStridedBatched_64", as_t, as_n, 1, 2, 3, two_, at_a_, 4, 40, at_b_, 5,
                         50, three_, at_c_, 6, 60, 7));
}

TEST_F(CublasPassedOn, GemmEx) {
  expect_passed_on(cublasGemmEx(handle_, n, n, 1, 2, 3, &alpha_, a_, fp32, 4, b_, fp32, 5, &beta_, c_, fp32,
                                6, compute, algo),
                   noted("cublasGemmEx", as_n, as_n, 1, 2, 3, two_, at_a_, as_fp32, 4, at_b_, as_fp32, 5,
                         three_, at_c_, as_fp32, 6, as_compute, as_algo));
  expect_passed_on(cublasGemmEx_64(handle_, n, n, 1, 2, 3, &alpha_, a_, fp32, 4, b_, fp32, 5, &beta_, c_,
                                   fp32, 6, compute, algo),
                   noted("cublasGemmEx_64", as_n, as_n, 1, 2, 3, two_, at_a_, as_fp32, 4, at_b_, as_fp32, 5,
                         three_, at_c_, as_fp32, 6, as_compute, as_algo));
}

TEST_F(CublasPassedOn, GemmBatchedEx) {
  void *as[] = {a_}, *bs[] = {b_}, *cs[] = {c_};
  const void *at_as = as, *at_bs = bs, *at_cs = cs;
  expect_passed_on(cublasGemmBatchedEx(handle_, n, n, 1, 2, 3, &alpha_, as, fp32, 4, bs, fp32, 5, &beta_, cs,
                                       fp32, 6, 7, compute, algo),
                   noted("cublasGemmBatchedEx", as_n, as_n, 1, 2, 3, two_, at_as, as_fp32, 4, at_bs, as_fp32,
                         5, three_, at_cs, as_fp32, 6, 7, as_compute, as_algo));
  expect_passed_on(cublasGemmBatchedEx_64(handle_, n, n, 1, 2, 3, &alpha_, as, fp32, 4, bs, fp32, 5, &beta_,
                                          cs, fp32, 6, 7, compute, algo),
                   noted("cublasGemmBatchedEx_64", as_n, as_n, 1, 2, 3, two_, at_as, as_fp32, 4, at_bs,
                         as_fp32, 5, three_, at_cs, as_fp32, 6, 7, as_compute, as_algo));
}

TEST_F(CublasPassedOn, GemmStridedBatchedEx) {
  expect_passed_on(cublasGemmStridedBatchedEx(handle_, n, n, 1, 2, 3, &alpha_, a_, fp32, 4, 40, b_, fp32, 5,
                                              50, &beta_, c_, fp32, 6, 60, 7, compute, algo),
                   noted("cublasGemmStridedBatchedEx", as_n, as_n, 1, 2, 3, two_, at_a_, as_fp32, 4, 40,
                         at_b_, as_fp32, 5, 50, three_, at_c_, as_fp32, 6, 60, 7, as_compute, as_algo));
  expect_passed_on(cublasGemmStridedBatchedEx_64(handle_, n, n, 1, 2, 3, &alpha_, a_, fp32, 4, 40, b_, fp32,
                                                 5, 50, &beta_, c_, fp32, 6, 60, 7, compute, algo),
                   noted("cublasGemmStridedBatchedEx_64", as_n, as_n, 1, 2, 3, two_, at_a_, as_fp32, 4, 40,
                         at_b_, as_fp32, 5, 50, three_, at_c_, as_fp32, 6, 60, 7, as_compute, as_algo));
}

TEST_F(CublasPassedOn, WhatIsSetOfAHandle) {
  const auto stream = reinterpret_cast<cudaStream_t>(0x10);
  EXPECT_EQ(cublasSetStream(handle_, stream), CUBLAS_STATUS_SUCCESS);
  cudaStream_t told = nullptr;
  EXPECT_EQ(cublasGetStream(handle_, &told), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(told, stream);
  EXPECT_EQ(cublasSetWorkspace(handle_, a_, 12), CUBLAS_STATUS_SUCCESS);
  const void* const workspace = a_;
  EXPECT_EQ(calls_of_next_cublas(), std::vector<std::string>{noted("cublasSetWorkspace_v2", workspace, 12)});
}

TEST_F(CublasPassedOn, LtMatmul) {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  ASSERT_EQ(cublasLtMatmulDescCreate(&product, compute, fp32), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&a, fp32, 1, 3, 4), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&b, fp32, 3, 2, 5), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&c, fp32, 1, 2, 6), CUBLAS_STATUS_SUCCESS);
  auto* const handle = reinterpret_cast<cublasLtHandle_t>(handle_);
  const cublasLtMatmulAlgo_t algorithm{};
  const auto stream = reinterpret_cast<cudaStream_t>(0x10);
  const auto expected = [&] {
    return noted("cublasLtMatmul", handle, product, two_, at_a_, a, at_b_, b, three_, at_c_, c, at_c_, c,
                 &algorithm, at_a_, 12, stream);
  };
  const auto multiply = [&] {
    return cublasLtMatmul(handle, product, &alpha_, a_, a, b_, b, &beta_, c_, c, c_, c, &algorithm, a_, 12,
                          stream);
  };
  expect_passed_on(multiply(), expected());
  const std::uint32_t relu = CUBLASLT_EPILOGUE_RELU;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &relu, sizeof relu);
  expect_passed_on(multiply(), expected());
  cublasLtMatrixLayoutDestroy(a);
  cublasLtMatrixLayoutDestroy(b);
  cublasLtMatrixLayoutDestroy(c);
  cublasLtMatmulDescDestroy(product);
}

}  // namespace
