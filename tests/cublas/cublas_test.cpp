// The drop-in library passes on these calls, in a program that has it by link order, and after it a cuBLAS
// that only notes its calls. No CUDA context is current here, so that nothing is served.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include "netlib/noting_blas.h"

namespace {

constexpr auto noted_status = CUBLAS_STATUS_ALLOC_FAILED;
constexpr auto n = CUBLAS_OP_N;
constexpr auto t = CUBLAS_OP_T;
constexpr auto fp32 = CUDA_R_32F;
constexpr auto compute = CUBLAS_COMPUTE_32F;
constexpr auto algo = CUBLAS_GEMM_DEFAULT;
class CublasPassedOn : public ::testing::Test {
 protected:
  CublasPassedOn() {
    EXPECT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    calls_of_next_blas().clear();
  }
  ~CublasPassedOn() override { cublasDestroy(handle_); }

  // The one call that cuBLAS has got meanwhile, which answered `status`.
  static void expect_passed_on(cublasStatus_t status, const std::string& call) {
    EXPECT_EQ(status, noted_status);
    EXPECT_EQ(calls_of_next_blas(), std::vector<std::string>{call});
    calls_of_next_blas().clear();
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
};

// Each is called with sizes of 32 and of 64 bits.

TEST_F(CublasPassedOn, Sgemm) {
  const auto pass_on = [&](auto* sgemm, const char* name) {
    expect_passed_on(sgemm(handle_, n, t, 1, 2, 3, &alpha_, a_, 4, b_, 5, &beta_, c_, 6),
                     noted(name, n, t, 1, 2, 3, two_, a_, 4, b_, 5, three_, c_, 6));
  };
  pass_on(cublasSgemm, "cublasSgemm_v2");
  pass_on(cublasSgemm_64, "cublasSgemm_v2_64");
}

TEST_F(CublasPassedOn, SgemmBatched) {
  const auto pass_on = [&](auto* sgemm, const char* name) {
    float *as[] = {a_}, *bs[] = {b_}, *cs[] = {c_};
    expect_passed_on(sgemm(handle_, t, n, 1, 2, 3, &alpha_, as, 4, bs, 5, &beta_, cs, 6, 7),
                     noted(name, t, n, 1, 2, 3, two_, as, 4, bs, 5, three_, cs, 6, 7));
  };
  pass_on(cublasSgemmBatched, "cublasSgemmBatched");
  pass_on(cublasSgemmBatched_64, "cublasSgemmBatched_64");
}

TEST_F(CublasPassedOn, SgemmStridedBatched) {
  const auto pass_on = [&](auto* sgemm, const char* name) {
    expect_passed_on(sgemm(handle_, t, n, 1, 2, 3, &alpha_, a_, 4, 40, b_, 5, 50, &beta_, c_, 6, 60, 7),
                     noted(name, t, n, 1, 2, 3, two_, a_, 4, 40, b_, 5, 50, three_, c_, 6, 60, 7));
  };
  pass_on(cublasSgemmStridedBatched, "cublasSgemmStridedBatched");
  pass_on(cublasSgemmStridedBatched_64, "cublasSgemmStridedBatched_64");
}

TEST_F(CublasPassedOn, GemmEx) {
  const auto pass_on = [&](const auto& gemm, const char* name) {
    expect_passed_on(
        gemm(handle_, n, n, 1, 2, 3, &alpha_, a_, fp32, 4, b_, fp32, 5, &beta_, c_, fp32, 6, compute, algo),
        noted(name, n, n, 1, 2, 3, two_, a_, fp32, 4, b_, fp32, 5, three_, c_, fp32, 6, compute, algo));
  };
  pass_on([](auto... x) { return cublasGemmEx(x...); }, "cublasGemmEx");
  pass_on([](auto... x) { return cublasGemmEx_64(x...); }, "cublasGemmEx_64");
}

TEST_F(CublasPassedOn, GemmBatchedEx) {
  const auto pass_on = [&](const auto& gemm, const char* name) {
    void *as[] = {a_}, *bs[] = {b_}, *cs[] = {c_};
    expect_passed_on(
        gemm(handle_, n, n, 1, 2, 3, &alpha_, as, fp32, 4, bs, fp32, 5, &beta_, cs, fp32, 6, 7, compute,
             algo),
        noted(name, n, n, 1, 2, 3, two_, as, fp32, 4, bs, fp32, 5, three_, cs, fp32, 6, 7, compute, algo));
  };
  pass_on([](auto... x) { return cublasGemmBatchedEx(x...); }, "cublasGemmBatchedEx");
  pass_on([](auto... x) { return cublasGemmBatchedEx_64(x...); }, "cublasGemmBatchedEx_64");
}

TEST_F(CublasPassedOn, GemmStridedBatchedEx) {
  const auto pass_on = [&](const auto& gemm, const char* name) {
    expect_passed_on(gemm(handle_, n, n, 1, 2, 3, &alpha_, a_, fp32, 4, 40, b_, fp32, 5, 50, &beta_, c_, fp32,
                          6, 60, 7, compute, algo),
                     noted(name, n, n, 1, 2, 3, two_, a_, fp32, 4, 40, b_, fp32, 5, 50, three_, c_, fp32, 6,
                           60, 7, compute, algo));
  };
  pass_on([](auto... x) { return cublasGemmStridedBatchedEx(x...); }, "cublasGemmStridedBatchedEx");
  pass_on([](auto... x) { return cublasGemmStridedBatchedEx_64(x...); }, "cublasGemmStridedBatchedEx_64");
}

TEST_F(CublasPassedOn, WhatIsSetOfAHandle) {
  const auto stream = reinterpret_cast<cudaStream_t>(0x10);
  EXPECT_EQ(cublasSetStream(handle_, stream), CUBLAS_STATUS_SUCCESS);
  cudaStream_t told = nullptr;
  EXPECT_EQ(cublasGetStream(handle_, &told), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(told, stream);
  EXPECT_EQ(cublasSetWorkspace(handle_, a_, 12), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(calls_of_next_blas(), std::vector<std::string>{noted("cublasSetWorkspace_v2", a_, 12)});
}

TEST_F(CublasPassedOn, LtMatmul) {
  const auto product = reinterpret_cast<cublasLtMatmulDesc_t>(place_);
  const auto a = reinterpret_cast<cublasLtMatrixLayout_t>(a_),
             b = reinterpret_cast<cublasLtMatrixLayout_t>(b_),
             c = reinterpret_cast<cublasLtMatrixLayout_t>(c_);
  auto* const handle = reinterpret_cast<cublasLtHandle_t>(handle_);
  const cublasLtMatmulAlgo_t algorithm{};
  const auto stream = reinterpret_cast<cudaStream_t>(0x10);
  expect_passed_on(cublasLtMatmul(handle, product, &alpha_, a_, a, b_, b, &beta_, c_, c, c_, c, &algorithm,
                                  a_, 12, stream),
                   noted("cublasLtMatmul", handle, product, two_, a_, a, b_, b, three_, c_, c, c_, c,
                         &algorithm, a_, 12, stream));
}

}  // namespace
