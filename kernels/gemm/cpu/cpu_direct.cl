// For CPUs: C <- alpha op(A) op(B) + beta C, read where it stands: for problems so small or so narrow that
// copying panels first (cpu_panels.cl) would take longer than it saves.
//
// A work-group is one work-item, which has a core to itself. It computes a tile of C in blocks of up to
// VECTORS vectors and COLS columns, which stay in registers for all k. Vectors of a direct A are read as
// they are. Where A is transposed, four k of four rows are read at once and transposed in registers. At the
// edge the last vector begins early enough to end in time, and the last column is read again: what is
// computed twice is stored once. With FEW_ROWS, a single vector has all rows where they are fewer than WIDTH.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major, but for C with ROWS_C. M is at least WIDTH,
// or FEW_ROWS is 1. Offsets, strides and leading dimensions in elements. Work-groups in the first dimension
// walk over tiles of tile_m x tile_n, those in the second over the batch.

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
#endif
#ifndef ROWS_C
#define ROWS_C 0  // C is stored by rows: 0 1
#endif
#ifndef WIDTH
#define WIDTH 4  // rows in a vector; 4 where A is transposed: 4 8 16
#endif
#ifndef VECTORS
#define VECTORS 2  // vectors of a block: 1 2 3 4
#endif
#ifndef COLS
#define COLS 4  // columns of a block: 1 2 4 8
#endif
#ifndef FEW_ROWS
#define FEW_ROWS 0  // M may be less than WIDTH, where the host's compiler can load a part of a vector: 0 1
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/cpu/cpu_block.h"
#include "gemm/cpu/cpu_transpose.h"

// acc += a block's A and B of one k; b[n] is where column n begins.
#define MULTIPLY_ADD(count, a_k, k)                             \
  EACH(n, COLS) {                                               \
    const FLOAT(WIDTH) b_k = (FLOAT(WIDTH))(b[n][(k)*b_step]);  \
    EACH(v, count) { acc[n][v] = fma(a_k[v], b_k, acc[n][v]); } \
  }

#if TRANS_A
#define MULTIPLY_ALL(count)                                                                             \
  long k = 0;                                                                                           \
  for (; k + 4 <= K; k += 4) {                                                                          \
    float4 a_k[4][count];                                                                               \
    EACH(v, count) {                                                                                    \
      const __global float* rows = a[v] + k;                                                            \
      TRANSPOSE_4X4(a_k[0][v], a_k[1][v], a_k[2][v], a_k[3][v], vload4(0, rows), vload4(0, rows + lda), \
                    vload4(0, rows + 2 * lda), vload4(0, rows + 3 * lda));                              \
    }                                                                                                   \
    EACH(i, 4) { MULTIPLY_ADD(count, a_k[i], k + i) }                                                   \
  }                                                                                                     \
  for (; k < K; ++k) {                                                                                  \
    float4 a_k[count];                                                                                  \
    EACH(v, count) {                                                                                    \
      const __global float* rows = a[v] + k;                                                            \
      a_k[v].x = rows[0];                                                                               \
      a_k[v].y = rows[lda];                                                                             \
      a_k[v].z = rows[2 * lda];                                                                         \
      a_k[v].w = rows[3 * lda];                                                                         \
    }                                                                                                   \
    MULTIPLY_ADD(count, a_k, k)                                                                         \
  }
#else
#define MULTIPLY_ALL(count)                                      \
  for (long k = 0; k < K; ++k) {                                 \
    FLOAT(WIDTH) a_k[count];                                     \
    EACH(v, count) { a_k[v] = VLOAD(WIDTH)(0, a[v] + k * lda); } \
    MULTIPLY_ADD(count, a_k, k)                                  \
  }
#endif

#define DEFINE_BLOCK(count)                                                                               \
  FUNCTION void block_##count(BLOCK_PARAMETERS) {                                                         \
    const long b_step = TRANS_B ? ldb : 1;                                                                \
    const __global float* a[count];                                                                       \
    const __global float* b[COLS];                                                                        \
    EACH(v, count) { a[v] = A + LEAST(row + v * WIDTH, M - WIDTH) * (TRANS_A ? lda : 1); }                \
    EACH(n, COLS) { b[n] = B + LEAST(col + n, N - 1) * (TRANS_B ? 1 : ldb); }                             \
    FLOAT(WIDTH) acc[COLS][count];                                                                        \
    EACH(n, COLS) {                                                                                       \
      EACH(v, count) { acc[n][v] = (FLOAT(WIDTH))(0.0f); }                                                \
    }                                                                                                     \
    MULTIPLY_ALL(count)                                                                                   \
    EACH(n, COLS) {                                                                                       \
      EACH(v, count) {                                                                                    \
        const long first = LEAST(row + v * WIDTH, M - WIDTH);                                             \
        if (col + n < N) {                                                                                \
          update_rows(D, ldd, C, ldc, first, col + n, (int)(row + v * WIDTH - first), WIDTH, alpha, beta, \
                      acc[n][v]);                                                                         \
        }                                                                                                 \
      }                                                                                                   \
    }                                                                                                     \
  }
DEFINE_BLOCK(1)
DEFINE_BLOCK(2)
DEFINE_BLOCK(3)
DEFINE_BLOCK(4)

#if FEW_ROWS
// The same for fewer rows than WIDTH.
FUNCTION void
block_few(BLOCK_PARAMETERS) {
  const long b_step = TRANS_B ? ldb : 1;
  const __global float* b[COLS];
  EACH(n, COLS) { b[n] = B + LEAST(col + n, N - 1) * (TRANS_B ? 1 : ldb); }
  FLOAT(WIDTH) acc[COLS][1];
  EACH(n, COLS) { acc[n][0] = (FLOAT(WIDTH))(0.0f); }
  for (long k = 0; k < K; ++k) {
    const FLOAT(WIDTH) a_k[1] = {LOAD_ROWS(WIDTH)(A + k * lda, 0, (int)M)};
    MULTIPLY_ADD(1, a_k, k)
  }
  EACH(n, COLS) {
    if (col + n < N) {
      update_rows(D, ldd, C, ldc, row, col + n, 0, (int)M, alpha, beta, acc[n][0]);
    }
  }
}
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
cpu_direct(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
           const __global float* B, const __global long* b_table, const __global float* C,
           const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  long first_row, first_col;
  find_tile(&first_row, &first_col, p.M, p.tile_m, p.tile_n);
  const long end_col = LEAST(first_col + p.tile_n, p.N);
  const long vectors = CEIL_DIV(LEAST(p.tile_m, p.M - first_row), WIDTH);
  const long panels = CEIL_DIV(vectors, VECTORS);

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* a_member = MEMBER(A, p.a, a_table, member);
    const __global float* b_member = MEMBER(B, p.b, b_table, member);
    const __global float* c_member = MEMBER(C, p.c, c_table, member);
    __global float* d_member = MEMBER(D, p.d, d_table, member);
#if FEW_ROWS
    if (p.M < WIDTH) {
      for (long col = first_col; col < end_col; col += COLS) {
        const long row = 0;
        BLOCK(few);
      }
      continue;
    }
#endif
    for (long panel = 0; panel < panels; ++panel) {
      const long begin = first_vector(panel, panels, vectors);
      const long count = first_vector(panel + 1, panels, vectors) - begin;
      const long row = first_row + begin * WIDTH;
      for (long col = first_col; col < end_col; col += COLS) {
        SELECT_VECTORS(count, BLOCK)
      }
    }
  }
}
