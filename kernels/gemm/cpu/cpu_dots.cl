// For CPUs: C <- alpha op(A) op(B) + beta C of few rows or columns, with k side by side in the rows of op(A)
// and in the columns of op(B): dot products. A B is read so where it is stored not transposed, an A where it
// is stored transposed. Another A is copied to local memory, a part of the core's caches: it has few rows
// then.
//
// A work-group is one work-item, which has a core to itself. It computes a tile of C in blocks of up to
// VECTORS rows and COLS columns. Each element of a block has a vector of sums in a register, whose element i
// adds up every WIDTH-th k from i on; in the end these are added up.
//
//    k     0   1   2   3   4   5   6   7   8 ...        WIDTH = 4
//    A row a   a   a   a   a   a   a   a   a
//    B col b   b   b   b   b   b   b   b   b
//    sum   +0  +1  +2  +3  +0  +1  +2  +3  +0
//
// Sums are in another order than a chain's in ascending k, but the same in every run.
//
// op(A) is M x K, op(B) is K x N and stored so, C is M x N, all column-major, but for C with ROWS_C. Offsets,
// strides and leading dimensions in elements. Work-groups in the first dimension walk over tiles of
// tile_m x tile_n, those in the second over the batch.

#ifndef TRANS_A
#define TRANS_A 1  // A is stored transposed, K x M: 0 1
#endif
#ifndef ROOM
#define ROOM 8192  // floats of a copied A at most: 8192 131072
#endif
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

// Floats from one copied row to the next.
#define STRIDE(depth) (((depth) + 15) / 16 * 16 + 16)

// Copies `rows` neighbouring rows, of which those for one k stand side by side. Zeros complete the last
// vector.
FUNCTION void
pack_rows(LOCAL_PTR float* to, const long stride, const __global float* from, const long ld, const int rows,
          const int depth) {
  int row = 0;
  for (; row + 4 <= rows; row += 4) {
    int k = 0;
    for (; k + 4 <= depth; k += 4) {
      const __global float* four = from + k * ld + row;
      LOCAL_PTR float* packed = to + row * stride + k;
      float4 row0, row1, row2, row3;
      TRANSPOSE_4X4(row0, row1, row2, row3, vload4(0, four), vload4(0, four + ld), vload4(0, four + 2 * ld),
                    vload4(0, four + 3 * ld));
      vstore4(row0, 0, packed);
      vstore4(row1, 0, packed + stride);
      vstore4(row2, 0, packed + 2 * stride);
      vstore4(row3, 0, packed + 3 * stride);
    }
    for (; k < depth; ++k) {
      for (int i = row; i < row + 4; ++i) {
        to[i * stride + k] = from[k * ld + i];
      }
    }
  }
  for (; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      to[row * stride + k] = from[k * ld + row];
    }
  }
  for (row = 0; row < rows; ++row) {
    for (int k = depth; k % WIDTH != 0; ++k) {
      to[row * stride + k] = 0.0f;
    }
  }
}

// Each of four vectors' elements, added up. The host's compiler may have instructions for that.
#if !defined(SUMS_OF_FOUR)
#define SUMS_OF_FOUR(width) sums_of_four
FUNCTION float4
fold(const FLOAT(WIDTH) vector) {
#if WIDTH == 16
  const float8 eight = vector.lo + vector.hi;
  return eight.lo + eight.hi;
#elif WIDTH == 8
  return vector.lo + vector.hi;
#else
  return vector;
#endif
}
FUNCTION float4
sums_of_four(const FLOAT(WIDTH) v0, const FLOAT(WIDTH) v1, const FLOAT(WIDTH) v2, const FLOAT(WIDTH) v3) {
  float4 four0, four1, four2, four3;
  TRANSPOSE_4X4(four0, four1, four2, four3, fold(v0), fold(v1), fold(v2), fold(v3));
  return (four0 + four2) + (four1 + four3);
}
#endif

#if TRANS_A
#define A_POINTER __global
#define LOAD_REST(from, rest) LOAD_ROWS(WIDTH)(from, rest)
#else
#define A_POINTER LOCAL_PTR
#define LOAD_REST(from, rest) VLOAD(WIDTH)(0, from)
#endif

// A block's elements are written in lines along its longer side.
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#define VECTOR_OF_LINE(i, count, cols) \
  acc[(cols) > (count) ? LEAST(i, (cols)-1) : line][(cols) > (count) ? line : LEAST(i, (count)-1)]
FUNCTION long
position_of_sum(const int i, const int line, const int along_row, const long ld) {
  return along_row ? position_c(line, i, ld) : position_c(i, line, ld);
}

#define DEFINE_BLOCK(count, cols)                                                                  \
  OWN_FUNCTION void block_##count##_x_##cols(const GemmArguments* p, const A_POINTER float* A,     \
                                             const long lda, const __global float* B,              \
                                             const __global float* c, __global float* d) {         \
    const long K = p->K, ldb = p->b.ld, ldc = p->c.ld, ldd = p->d.ld;                              \
    const float alpha = p->alpha, beta = p->beta;                                                  \
    FLOAT(WIDTH) acc[cols][count];                                                                 \
    EACH(n, cols) {                                                                                \
      EACH(r, count) { acc[n][r] = (FLOAT(WIDTH))(0.0f); }                                         \
    }                                                                                              \
    long k = 0;                                                                                    \
    for (; k + WIDTH <= K; k += WIDTH) {                                                           \
      FLOAT(WIDTH) b_k[cols];                                                                      \
      EACH(n, cols) { b_k[n] = VLOAD(WIDTH)(0, B + n * ldb + k); }                                 \
      EACH(r, count) {                                                                             \
        const FLOAT(WIDTH) a_k = VLOAD(WIDTH)(0, A + r * lda + k);                                 \
        EACH(n, cols) { acc[n][r] = fma(a_k, b_k[n], acc[n][r]); }                                 \
      }                                                                                            \
    }                                                                                              \
    if (k < K) {                                                                                   \
      const int rest = (int)(K - k);                                                               \
      FLOAT(WIDTH) b_k[cols];                                                                      \
      EACH(n, cols) { b_k[n] = LOAD_ROWS(WIDTH)(B + n * ldb + k, rest); }                          \
      EACH(r, count) {                                                                             \
        const FLOAT(WIDTH) a_k = LOAD_REST(A + r * lda + k, rest);                                 \
        EACH(n, cols) { acc[n][r] = fma(a_k, b_k[n], acc[n][r]); }                                 \
      }                                                                                            \
    }                                                                                              \
    EACH(line, LEAST(count, cols)) {                                                               \
      const float4 sums =                                                                          \
          SUMS_OF_FOUR(WIDTH)(VECTOR_OF_LINE(0, count, cols), VECTOR_OF_LINE(1, count, cols),      \
                              VECTOR_OF_LINE(2, count, cols), VECTOR_OF_LINE(3, count, cols));     \
      float4 result;                                                                               \
      float before[4] = {0.0f, 0.0f, 0.0f, 0.0f}, after[4];                                        \
      if (beta != 0.0f) {                                                                          \
        EACH(i, MOST(count, cols)) { before[i] = c[position_of_sum(i, line, cols > count, ldc)]; } \
      }                                                                                            \
      UPDATE_FROM(float4, result, alpha, sums, beta, vload4(0, before));                           \
      vstore4(result, 0, after);                                                                   \
      EACH(i, MOST(count, cols)) { d[position_of_sum(i, line, cols > count, ldd)] = after[i]; }    \
    }                                                                                              \
  }
#define DEFINE_COLUMNS(cols) \
  DEFINE_BLOCK(1, cols)      \
  DEFINE_BLOCK(2, cols)      \
  DEFINE_BLOCK(3, cols)      \
  DEFINE_BLOCK(4, cols)
FOR_COLUMNS(DEFINE_COLUMNS)
#define BLOCK(count, cols) \
  block_##count##_x_##cols(&p, a + row * lda, lda, b + col * p.b.ld, c_block, d_block)
#define COLUMNS(cols)                  \
  if (there == cols) {                 \
    SELECT_VECTORS(count, BLOCK, cols) \
  }

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
cpu_dots(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
         const __global float* B, const __global long* b_table, const __global float* C,
         const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  long first_row, first_col;
  find_tile(&first_row, &first_col, p.M, p.tile_m, p.tile_n);
  const int rows = (int)LEAST(p.tile_m, p.M - first_row);
  const long end_col = LEAST(first_col + p.tile_n, p.N);
#if TRANS_A
  const long lda = p.a.ld;
#else
  __local float room[ROOM] __attribute__((aligned(64)));
  const long lda = STRIDE(p.K);
#endif

  const long members_apart = (long)get_num_groups(1);  // asked once: a CPU looks for it
  for (long member = get_group_id(1); member < p.batch; member += members_apart) {
    const __global float* b = FIND_MEMBER(B, p.b, b_table, member);
    const __global float* c = FIND_MEMBER(C, p.c, c_table, member) + position_c(first_row, 0, p.c.ld);
    __global float* d = FIND_MEMBER(D, p.d, d_table, member) + position_c(first_row, 0, p.d.ld);
#if TRANS_A
    const __global float* a = FIND_MEMBER(A, p.a, a_table, member) + first_row * lda;
#else
    LOCAL_PTR float* a = room + get_local_id(0);  // as in cpu_panels.cl
    pack_rows(a, lda, FIND_MEMBER(A, p.a, a_table, member) + first_row, p.a.ld, rows, (int)p.K);
#endif
    // Of two operands, the one that is in the caches is read again.
#if TRANS_A
    for (int row = 0; row < rows; row += VECTORS) {
      for (long col = first_col, there = 0; col < end_col; col += there) {
#else
    for (long col = first_col, there = 0; col < end_col; col += there) {
      for (int row = 0; row < rows; row += VECTORS) {
#endif
        there = columns_of_block(end_col - col);
        const int count = LEAST(VECTORS, rows - row);
        const __global float* c_block = c + position_c(row, col, p.c.ld);
        __global float* d_block = d + position_c(row, col, p.d.ld);
        FOR_COLUMNS(COLUMNS)
      }
    }
  }
}
