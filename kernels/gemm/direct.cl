// Short sums: each work-item computes a few elements of C right from memory.
//
// Filling tiles in local memory does not pay where they are hardly used, and small results leave most of a
// tile empty. Here the blocks of C of all members of a batch are numbered one after the other, down the
// columns of one member before the next, and a work-item takes one:
//
//   C, M x N (ROWS 2, COLS 2)      A work-item's rows and columns are as far apart as there are blocks, so
//        j           j             that neighbours read and write what stands side by side in memory. Rows
//   i  [ x . . . . | x . . . ]     and columns beyond the last are never written: the last is read in their
//      [ . . . . . | . . . . ]     place.
//      [-----------+---------]
//   i  [ x . . . . | x . . . ]     The caches hold what work-items of a work-group share.
//
// op(A) is M x K, op(B) is K x N, C and D are M x N, all column-major. Offsets, strides and leading
// dimensions in elements.

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
#endif
#ifndef ROWS
#define ROWS 2  // rows of C per work-item: 1 2 4
#endif
#ifndef COLS
#define COLS 4  // columns of C per work-item: 1 2 4 8
#endif
#ifndef GROUP
#define GROUP 128  // work-items in a work-group: 64 128 256
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "update.h"

// This many k are read before they are multiplied.
enum { AHEAD = 4 };

// Where a work-item reads `count` rows of op(A), or columns of op(B), `distance` apart from `first` on, of
// which there are `size`.
FUNCTION void
begin_vectors(const __global float** from, const __global float* matrix, const long first,
              const long distance, const long size, const long step, const int count) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    from[i] = matrix + LEAST(first + i * distance, size - 1) * step;
  }
}

// Loads the values of the next AHEAD k, of which `left` are there; the last is read in place of the others.
FUNCTION void
load_ahead(float* values, const __global float** from, const long next_k, const long left, const int count) {
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) {
    const long offset = LEAST(k, left - 1) * next_k;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      values[k * count + i] = from[i][offset];
    }
  }
#pragma unroll
  for (int i = 0; i < count; ++i) {
    from[i] += AHEAD * next_k;
  }
}

FUNCTION void
multiply(float acc[COLS][ROWS], const float* rows, const float* cols) {
#pragma unroll
  for (int col = 0; col < COLS; ++col) {
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
      acc[col][row] = fma(rows[row], cols[col], acc[col][row]);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
direct(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
       const __global float* B, const __global long* b_table, const __global float* C,
       const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  const long blocks_m = (p.M + ROWS - 1) / ROWS;
  const long blocks_n = (p.N + COLS - 1) / COLS;
  const long blocks = blocks_m * blocks_n;
  const long number = (long)get_group_id(0) * GROUP + get_local_id(0);
  if (number >= blocks * p.batch) {
    return;
  }
  const long member = column_of_element(number, blocks, blocks * p.batch);
  const long block = number - member * blocks;
  const long first_col = column_of_element(block, blocks_m, blocks);
  const long first_row = block - first_col * blocks_m;

  const __global float* a[ROWS];
  const __global float* b[COLS];
  begin_vectors(a, MEMBER(A, p.a, a_table, member), first_row, blocks_m, p.M, TRANS_A ? p.a.ld : 1, ROWS);
  begin_vectors(b, MEMBER(B, p.b, b_table, member), first_col, blocks_n, p.N, TRANS_B ? 1 : p.b.ld, COLS);
  float acc[COLS][ROWS];
#pragma unroll
  for (int col = 0; col < COLS; ++col) {
    set_to_zero(acc[col], ROWS);
  }

  for (long left = p.K; left > 0; left -= AHEAD) {
    float rows[AHEAD * ROWS];
    float cols[AHEAD * COLS];
    load_ahead(rows, a, TRANS_A ? 1 : p.a.ld, left, ROWS);
    load_ahead(cols, b, TRANS_B ? p.b.ld : 1, left, COLS);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      if (k < left) {
        multiply(acc, rows + k * ROWS, cols + k * COLS);
      }
    }
  }

  __global float* d = MEMBER(D, p.d, d_table, member);
  const __global float* c = p.beta == 0.0f ? d : MEMBER(C, p.c, c_table, member);
#pragma unroll
  for (int col = 0; col < COLS; ++col) {
    const long j = first_col + col * blocks_n;
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
      const long i = first_row + row * blocks_m;
      if (i < p.M && j < p.N) {
        UPDATE_FROM(float, d[j * p.d.ld + i], p.alpha, acc[col][row], p.beta, c[j * p.c.ld + i]);
      }
    }
  }
}
