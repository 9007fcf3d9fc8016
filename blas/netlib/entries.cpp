// The entry points of C, whose enumerations are ints here, as cblas.h is for whoever calls, and those of
// Fortran, with 32-bit integers. Behind Fortran's arguments come the lengths of the two strings; many C
// programs leave them away, and nothing here reads them.
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "call.h"

namespace duogemm::blas {
namespace {

// A call that lacks its transposes.
Call call_of(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta,
             float* c, int ldc, int batch = 1, int a_stride = 0, int b_stride = 0, int c_stride = 0) {
  Sgemm problem{.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .lda = lda, .ldb = ldb, .ldc = ldc};
  problem.batch = batch;
  problem.a_stride = a_stride;
  problem.b_stride = b_stride;
  problem.c_stride = c_stride;
  return {problem, a, b, c};
}

// --- Fortran ---------------------------------------------------------------------------------------------

std::optional<Transpose> parse_transpose(char letter) {
  const int lower = letter | 0x20;  // of a letter in ASCII; nothing else becomes one of these
  if (lower == 'n') {
    return Transpose::no;
  }
  return lower == 't' || lower == 'c' ? std::optional(Transpose::yes) : std::nullopt;
}

// `call` lacks its transposes.
void run_fortran(std::string_view routine, const Positions& positions, char a_op, char b_op, Call call) {
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

// --- C ---------------------------------------------------------------------------------------------------

constexpr int row_major = 101;
constexpr int col_major = 102;
constexpr int no_trans = 111;
constexpr int trans = 112;
constexpr int conj_trans = 113;

std::optional<Transpose> parse_transpose(int value) {
  switch (value) {
    case no_trans:
      return Transpose::no;
    case trans:
    case conj_trans:
      return Transpose::yes;
    default:
      return std::nullopt;
  }
}

// The column-major call that computes the same as this row-major one: all matrices transposed.
Call swapped(Call call) {
  Sgemm& problem = call.problem;
  std::swap(problem.a_op, problem.b_op);
  std::swap(problem.m, problem.n);
  std::swap(problem.lda, problem.ldb);
  std::swap(problem.a_stride, problem.b_stride);
  std::swap(call.a, call.b);
  return call;
}

Positions swapped(Positions positions) {
  std::swap(positions.m, positions.n);
  std::swap(positions.lda, positions.ldb);
  return positions;
}

Origin origin(int layout) { return layout == row_major ? Origin::c_by_rows : Origin::c_by_columns; }

// Completes `call`, which lacks its transposes, and makes it column-major. If one of the first three
// arguments is illegal, this reports it and returns nothing.
std::optional<Call> column_major(const char* routine, int layout, int a_op, int b_op, Call call) {
  if (layout != row_major && layout != col_major) {
    report_to_c(routine, 1, origin(layout), "Illegal layout setting, %d\n", layout);
    return std::nullopt;
  }
  const std::optional<Transpose> a = parse_transpose(a_op);
  if (!a) {
    report_to_c(routine, 2, origin(layout), "Illegal TransA setting, %d\n", a_op);
    return std::nullopt;
  }
  const std::optional<Transpose> b = parse_transpose(b_op);
  if (!b) {
    report_to_c(routine, 3, origin(layout), "Illegal TransB setting, %d\n", b_op);
    return std::nullopt;
  }
  call.problem.a_op = *a;
  call.problem.b_op = *b;
  return layout == row_major ? swapped(call) : call;
}

// As the reference does it: Fortran's SGEMM checks and reports the swapped call.
void run_sgemm(int layout, int a_op, int b_op, const Call& incomplete) {
  std::optional<Call> call = column_major("cblas_sgemm", layout, a_op, b_op, incomplete);
  if (!call) {
    return;
  }
  if (const int position = first_illegal(call->problem, sgemm_positions)) {
    report("SGEMM ", position, origin(layout));
    return;
  }
  compute(*call);
}

// The reference has no such routine: this reports to the C handler at once, by the caller's own numbers.
void run_batch_strided(int layout, int a_op, int b_op, const Call& incomplete) {
  const char* routine = "cblas_sgemm_batch_strided";
  std::optional<Call> call = column_major(routine, layout, a_op, b_op, incomplete);
  if (!call) {
    return;
  }
  const Positions positions{.m = 4, .n = 5, .k = 6, .lda = 9, .ldb = 12, .ldc = 16, .batch = 18};
  if (const int position =
          first_illegal(call->problem, layout == row_major ? swapped(positions) : positions)) {
    report_to_c(routine, position, Origin::c_by_columns);
    return;
  }
  compute(*call);
}

}  // namespace
}  // namespace duogemm::blas

using namespace duogemm::blas;

extern "C" {

void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc, std::size_t, std::size_t) {
  run_fortran("SGEMM ", sgemm_positions, *transa, *transb,
              call_of(*m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc));
}

// As MKL and OpenBLAS have it.
void sgemm_batch_strided_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                          const float* alpha, const float* a, const int* lda, const int* stridea,
                          const float* b, const int* ldb, const int* strideb, const float* beta, float* c,
                          const int* ldc, const int* stridec, const int* batch_size, std::size_t,
                          std::size_t) {
  run_fortran("SGEMM_BATCH_STRIDED", {.m = 3, .n = 4, .k = 5, .lda = 8, .ldb = 11, .ldc = 15, .batch = 17},
              *transa, *transb,
              call_of(*m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc, *batch_size, *stridea, *strideb,
                      *stridec));
}

void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  run_sgemm(layout, transa, transb, call_of(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}

// As MKL and OpenBLAS have it.
void cblas_sgemm_batch_strided(int layout, int transa, int transb, int m, int n, int k, float alpha,
                               const float* a, int lda, int stridea, const float* b, int ldb, int strideb,
                               float beta, float* c, int ldc, int stridec, int batch_size) {
  run_batch_strided(
      layout, transa, transb,
      call_of(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch_size, stridea, strideb, stridec));
}
}
