// What libraries above BLAS call in the place of SGEMM where they can: NumPy takes ssyrk for a @ a.T and
// sgemv for a @ v. duogemm has neither. A program that is linked to this library alone finds them here, and
// so the BLAS behind it. The lengths of strings, which Fortran passes behind the arguments, are passed on as
// 1, but are no parameters here: a caller in C may not have passed any, and the compiler would write these
// over what that caller has in their place.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "call.h"

namespace duogemm::blas {
namespace {

using Ssyrk = void(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
                   const float* a, const int* lda, const float* beta, float* c, const int* ldc, std::size_t,
                   std::size_t);
using Sgemv = void(const char* trans, const int* m, const int* n, const float* alpha, const float* a,
                   const int* lda, const float* x, const int* incx, const float* beta, float* y,
                   const int* incy, std::size_t);
using CblasSsyrk = void(int layout, int uplo, int trans, int n, int k, float alpha, const float* a, int lda,
                        float beta, float* c, int ldc);
using CblasSgemv = void(int layout, int trans, int m, int n, float alpha, const float* a, int lda,
                        const float* x, int incx, float beta, float* y, int incy);

template <typename Function>
Function* find_or_abort(Next<Function>& next) {
  Function* const found = next.find();
  if (found == nullptr) {
    std::fprintf(stderr, "duogemm: %s is not in this library, and there is no other BLAS that has it\n",
                 next.name());
    std::abort();
  }
  return found;
}

constinit Next<Ssyrk> next_ssyrk("ssyrk_");
constinit Next<Sgemv> next_sgemv("sgemv_");
constinit Next<CblasSsyrk> next_cblas_ssyrk("cblas_ssyrk");
constinit Next<CblasSgemv> next_cblas_sgemv("cblas_sgemv");

}  // namespace
}  // namespace duogemm::blas

using namespace duogemm::blas;

extern "C" {

void ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* beta, float* c, const int* ldc) {
  find_or_abort(next_ssyrk)(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, 1, 1);
}

void sgemv_(const char* trans, const int* m, const int* n, const float* alpha, const float* a, const int* lda,
            const float* x, const int* incx, const float* beta, float* y, const int* incy) {
  find_or_abort(next_sgemv)(trans, m, n, alpha, a, lda, x, incx, beta, y, incy, 1);
}

void cblas_ssyrk(int layout, int uplo, int trans, int n, int k, float alpha, const float* a, int lda,
                 float beta, float* c, int ldc) {
  find_or_abort(next_cblas_ssyrk)(layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_sgemv(int layout, int trans, int m, int n, float alpha, const float* a, int lda, const float* x,
                 int incx, float beta, float* y, int incy) {
  find_or_abort(next_cblas_sgemv)(layout, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
}
