// Who is told of illegal arguments.
#pragma once

#include <cstddef>

namespace duogemm::blas {

using Xerbla = void(const char* routine, const int* position, std::size_t length);
using CblasXerbla = void(int position, const char* routine, const char* format, ...);

// The handlers of the program, or of a BLAS that it has; null where there are none.
Xerbla* find_xerbla();
CblasXerbla* find_cblas_xerbla();

}  // namespace duogemm::blas
