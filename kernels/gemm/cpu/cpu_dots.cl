// For CPUs: C <- alpha op(A) op(B) + beta C of few columns, where the rows of op(A) and the columns of op(B)
// are stored with their k side by side: dot products.
//
// A work-group is one work-item, which has a core to itself. It computes a tile of C in blocks of up to
// VECTORS rows and COLS columns. Each element of a block has a vector of sums in a register, whose element i
// adds up every WIDTH-th k from i on; in the end its halves are added up until one is left, and then what is
// left of k. At the edge the last row or column is read again: what is computed twice is stored once.
//
//    k     0   1   2   3   4   5   6   7   8 ...        WIDTH = 4
//    A row a   a   a   a   a   a   a   a   a
//    B col b   b   b   b   b   b   b   b   b
//    sum   +0  +1  +2  +3  +0  +1  +2  +3  +0
//
// Sums are in another order than a chain's in ascending k, but the same in every run.
//
// op(A) is M x K and stored K x M, op(B) is K x N and stored so, C is M x N, all column-major, but for C with
// ROWS_C. Offsets, strides and leading dimensions in elements. Work-groups in the first dimension walk over
// tiles of tile_m x tile_n, those in the second over the batch.

#ifndef ROWS_C
#define ROWS_C 0  // C is stored by rows: 0 1
#endif
#ifndef WIDTH
#define WIDTH 16  // k in a vector: 4 8 16
#endif
#ifndef VECTORS
#define VECTORS 4  // rows of a block: 1 2 3 4
#endif
#ifndef COLS
#define COLS 4  // columns of a block: 1 2 4
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/cpu/cpu_block.h"

// The sum of a vector's elements.
FUNCTION float
sum_of(const FLOAT(WIDTH) vector) {
  float sums[WIDTH];
  VSTORE(WIDTH)(vector, 0, sums);
  float4 four = vload4(0, sums);
  if (WIDTH == 16) {
    four = (four + vload4(2, sums)) + (vload4(1, sums) + vload4(3, sums));
  } else if (WIDTH == 8) {
    four = four + vload4(1, sums);
  }
  return (four.x + four.z) + (four.y + four.w);
}

#define DEFINE_BLOCK(count)                                                          \
  FUNCTION void block_##count(BLOCK_PARAMETERS) {                                    \
    const __global float* a[count];                                                  \
    const __global float* b[COLS];                                                   \
    EACH(r, count) { a[r] = A + LEAST(row + r, M - 1) * lda; }                       \
    EACH(n, COLS) { b[n] = B + LEAST(col + n, N - 1) * ldb; }                        \
    FLOAT(WIDTH) acc[COLS][count];                                                   \
    EACH(n, COLS) {                                                                  \
      EACH(r, count) { acc[n][r] = (FLOAT(WIDTH))(0.0f); }                           \
    }                                                                                \
    const long whole = K / WIDTH * WIDTH;                                            \
    for (long k = 0; k < whole; k += WIDTH) {                                        \
      FLOAT(WIDTH) b_k[COLS];                                                        \
      EACH(n, COLS) { b_k[n] = VLOAD(WIDTH)(0, b[n] + k); }                          \
      EACH(r, count) {                                                               \
        const FLOAT(WIDTH) a_k = VLOAD(WIDTH)(0, a[r] + k);                          \
        EACH(n, COLS) { acc[n][r] = fma(a_k, b_k[n], acc[n][r]); }                   \
      }                                                                              \
    }                                                                                \
    EACH(n, COLS) {                                                                  \
      EACH(r, count) {                                                               \
        if (row + r < M && col + n < N) {                                            \
          float sum = sum_of(acc[n][r]);                                             \
          for (long k = whole; k < K; ++k) {                                         \
            sum = fma(a[r][k], b[n][k], sum);                                        \
          }                                                                          \
          UPDATE_FROM(float, D[position_c(row + r, col + n, ldd)], alpha, sum, beta, \
                      C[position_c(row + r, col + n, ldc)]);                         \
        }                                                                            \
      }                                                                              \
    }                                                                                \
  }
DEFINE_BLOCK(1)
DEFINE_BLOCK(2)
DEFINE_BLOCK(3)
DEFINE_BLOCK(4)

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
cpu_dots(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
         const __global float* B, const __global long* b_table, const __global float* C,
         const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  long first_row, first_col;
  find_tile(&first_row, &first_col, p.M, p.tile_m, p.tile_n);
  const long end_row = LEAST(first_row + p.tile_m, p.M);
  const long end_col = LEAST(first_col + p.tile_n, p.N);

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* a_member = MEMBER(A, p.a, a_table, member);
    const __global float* b_member = MEMBER(B, p.b, b_table, member);
    const __global float* c_member = MEMBER(C, p.c, c_table, member);
    __global float* d_member = MEMBER(D, p.d, d_table, member);
    for (long row = first_row; row < end_row; row += VECTORS) {
      const long count = LEAST(VECTORS, end_row - row);
      for (long col = first_col; col < end_col; col += COLS) {
        SELECT_VECTORS(count, BLOCK)
      }
    }
  }
}
