#include "references/blas_calls.h"

#include <limits>

namespace duogemm::bench {
namespace {

// The lengths of the first two arguments follow the others, as Fortran has it.
using SgemmFunction = void(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                           const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                           const float* beta, float* c, const int* ldc, std::size_t, std::size_t);
// The entry point of MKL and OpenBLAS for batches, which is SGEMM's own where the batch is of one.
using SgemmBatchStrided = void(const char* transa, const char* transb, const int* m, const int* n,
                               const int* k, const float* alpha, const float* a, const int* lda,
                               const int* stridea, const float* b, const int* ldb, const int* strideb,
                               const float* beta, float* c, const int* ldc, const int* stridec,
                               const int* batch, std::size_t, std::size_t);

int narrow(std::int64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw Error(Status::unsupported, "BLAS has sizes of 32 bits; one is " + std::to_string(value));
  }
  return static_cast<int>(value);
}

}  // namespace

BlasCall sgemm_of(const SharedLibrary& library, const std::string& prefix) {
  SgemmFunction* one = nullptr;
  SgemmBatchStrided* many = nullptr;
  if (!library.find((prefix + "sgemm_").c_str(), one)) {
    return {};
  }
  library.find((prefix + "sgemm_batch_strided_").c_str(), many);
  return [one, many](const Problem& p, const Operands& operands) {
    const float* const a = pointer(operands, operand_a);
    const float* const b = pointer(operands, operand_b);
    float* const c = pointer(operands, operand_c);
    const char* a_op = p.a_op == Transpose::no ? "N" : "T";
    const char* b_op = p.b_op == Transpose::no ? "N" : "T";
    const int m = narrow(p.m), n = narrow(p.n), k = narrow(p.k);
    const int lda = narrow(p.lda), ldb = narrow(p.ldb), ldc = narrow(p.ldc);
    if (p.batch > 1 && many != nullptr) {
      const int stride_a = narrow(p.a_stride), stride_b = narrow(p.b_stride), stride_c = narrow(p.c_stride);
      const int batch = narrow(p.batch);
      many(a_op, b_op, &m, &n, &k, &p.alpha, a, &lda, &stride_a, b, &ldb, &stride_b, &p.beta, c, &ldc,
           &stride_c, &batch, 1, 1);
      return;
    }
    for (std::int64_t i = 0; i < p.batch; ++i) {
      one(a_op, b_op, &m, &n, &k, &p.alpha, a + i * p.a_stride, &lda, b + i * p.b_stride, &ldb, &p.beta,
          c + i * p.c_stride, &ldc, 1, 1);
    }
  };
}

}  // namespace duogemm::bench
