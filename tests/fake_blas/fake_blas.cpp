// A library with BLAS's SGEMM, whose symbols have the prefix of PyPI's OpenBLAS. It multiplies in as many
// words.
#include <cmath>
#include <cstddef>

namespace {

int threads = 0;

}  // namespace

extern "C" {

void scipy_fake_set_num_threads_(const int* count) { threads = *count; }
int scipy_fake_threads() { return threads; }
const char* scipy_fake_version() { return "1.2"; }

void scipy_sgemm_(const char* a_op, const char* b_op, const int* m, const int* n, const int* k,
                  const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                  const float* beta, float* c, const int* ldc, std::size_t, std::size_t) {
  for (int col = 0; col < *n; ++col) {
    for (int row = 0; row < *m; ++row) {
      float sum = 0.0f;
      for (int p = 0; p < *k; ++p) {
        sum = std::fma(*a_op == 'N' ? a[p * *lda + row] : a[row * *lda + p],
                       *b_op == 'N' ? b[col * *ldb + p] : b[p * *ldb + col], sum);
      }
      float& element = c[col * *ldc + row];
      element = *alpha * sum + (*beta == 0.0f ? 0.0f : *beta * element);
    }
  }
}
}
