// What cublasLtMatmul is asked to compute, as a call of SGEMM.
#pragma once

#include <cublasLt.h>

#include <optional>

#include "call.h"

namespace duogemm::cublas {

// The arguments of cublasLtMatmul that say what to compute.
struct LtArguments {
  cublasLtMatmulDesc_t product;
  const void* alpha;
  const void* a;
  cublasLtMatrixLayout_t a_layout;
  const void* b;
  cublasLtMatrixLayout_t b_layout;
  const void* beta;
  const void* c;
  cublasLtMatrixLayout_t c_layout;
  void* d;
  cublasLtMatrixLayout_t d_layout;
};

// Either why there is no such call, or the call, whose C is D.
struct LtCall {
  std::optional<Reason> not_served;
  Call call;
};
LtCall sgemm_of(const LtArguments& arguments);

}  // namespace duogemm::cublas
