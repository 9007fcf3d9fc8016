// Preloaded before the library, it breaks it: illegal sizes are not noticed, and an element of each result is
// off by a permille. Netlib's drivers have to see that.
#include <dlfcn.h>

#include <cstddef>

namespace {

// The function that this library hides.
template <typename Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_computed(int m, int n, int k) { return m > 0 && n > 0 && k >= 0; }

}  // namespace

extern "C" {

void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc, std::size_t transa_length,
            std::size_t transb_length) {
  if (is_computed(*m, *n, *k)) {
    next(&sgemm_, "sgemm_")(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, transa_length,
                            transb_length);
    *c *= 1.001f;
  }
}

void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  if (is_computed(m, n, k)) {
    next(&cblas_sgemm, "cblas_sgemm")(layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    *c *= 1.001f;
  }
}
}
