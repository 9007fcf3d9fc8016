#include "handlers.h"

extern "C" {

// Weak, because there may be nobody who has them. The linker exports a program's own, because they are asked
// for here.
[[gnu::weak]] void xerbla_(const char* routine, const int* position, std::size_t length);
[[gnu::weak]] void cblas_xerbla(int position, const char* routine, const char* format, ...);
}

namespace duogemm::blas {

Xerbla* find_xerbla() { return xerbla_; }
CblasXerbla* find_cblas_xerbla() { return cblas_xerbla; }

}  // namespace duogemm::blas
