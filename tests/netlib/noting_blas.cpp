#include "noting_blas.h"

namespace {

std::vector<std::string> calls;

template <typename... Arguments>
void note(const char* name, const Arguments&... arguments) {
  calls.push_back(noted(name, arguments...));
}

}  // namespace

std::vector<std::string>& calls_of_next_blas() { return calls; }

extern "C" {

void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc) {
  note("sgemm_", *transa, *transb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}

void ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* beta, float* c, const int* ldc) {
  note("ssyrk_", *uplo, *trans, *n, *k, *alpha, a, *lda, *beta, c, *ldc);
}

void sgemv_(const char* trans, const int* m, const int* n, const float* alpha, const float* a, const int* lda,
            const float* x, const int* incx, const float* beta, float* y, const int* incy) {
  note("sgemv_", *trans, *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);
}

void cblas_ssyrk(int layout, int uplo, int trans, int n, int k, float alpha, const float* a, int lda,
                 float beta, float* c, int ldc) {
  note("cblas_ssyrk", layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void cblas_sgemv(int layout, int trans, int m, int n, float alpha, const float* a, int lda, const float* x,
                 int incx, float beta, float* y, int incy) {
  note("cblas_sgemv", layout, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
}
