// Reports of illegal arguments, to the handlers of the program's BLAS, or else as the reference does it.
#pragma once

#include <string_view>

namespace duogemm::blas {

enum class Origin { fortran, c_by_columns, c_by_rows };

// As reference BLAS does: to XERBLA, with the routine's name in capitals, filled up to 6 characters at least.
void report(std::string_view routine, int position, Origin origin);

// As reference CBLAS reports what Fortran's routine never sees: to cblas_xerbla. `format` may print `value`.
// When the origin is c_by_rows, the handler swaps the positions of M and N, and of SGEMM's lda and ldb.
void report_to_c(const char* routine, int position, Origin origin, const char* format = "", int value = 0);

}  // namespace duogemm::blas
