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
}
