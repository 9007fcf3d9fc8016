// The entry points of Fortran, with 32-bit integers. Behind the arguments come the lengths of the two
// strings; many C programs leave them away, and nothing here reads them.
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

#include "call.h"
#include "xerbla.h"

namespace duogemm::blas {
namespace {

std::optional<Transpose> parse_transpose(char letter) {
  switch (std::toupper(static_cast<unsigned char>(letter))) {
    case 'N':
      return Transpose::no;
    case 'T':
    case 'C':
      return Transpose::yes;
    default:
      return std::nullopt;
  }
}

// `call` lacks its transposes.
void run(std::string_view routine, const Positions& positions, char a_op, char b_op, Call call) {
  const std::optional<Transpose> a = parse_transpose(a_op);
  const std::optional<Transpose> b = parse_transpose(b_op);
  if (!a || !b) {
    report(routine, a ? 2 : 1, Origin::fortran);
    return;
  }
  call.problem.a_op = *a;
  call.problem.b_op = *b;
  if (const int position = first_illegal(call.problem, positions)) {
    report(routine, position, Origin::fortran);
    return;
  }
  compute(call);
}

}  // namespace
}  // namespace duogemm::blas

extern "C" {

void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc, std::size_t, std::size_t) {
  duogemm::blas::run(
      "SGEMM ", duogemm::blas::sgemm_positions, *transa, *transb,
      {{.m = *m, .n = *n, .k = *k, .alpha = *alpha, .beta = *beta, .lda = *lda, .ldb = *ldb, .ldc = *ldc},
       a,
       b,
       c});
}

// As MKL and OpenBLAS have it.
void sgemm_batch_strided_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                          const float* alpha, const float* a, const int* lda, const int* stridea,
                          const float* b, const int* ldb, const int* strideb, const float* beta, float* c,
                          const int* ldc, const int* stridec, const int* batch_size, std::size_t,
                          std::size_t) {
  duogemm::blas::run("SGEMM_BATCH_STRIDED",
                     {.m = 3, .n = 4, .k = 5, .lda = 8, .ldb = 11, .ldc = 15, .batch = 17}, *transa, *transb,
                     {{.m = *m,
                       .n = *n,
                       .k = *k,
                       .alpha = *alpha,
                       .beta = *beta,
                       .lda = *lda,
                       .ldb = *ldb,
                       .ldc = *ldc,
                       .batch = *batch_size,
                       .a_stride = *stridea,
                       .b_stride = *strideb,
                       .c_stride = *stridec},
                      a,
                      b,
                      c});
}
}
