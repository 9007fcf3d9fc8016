// For CPUs: C <- alpha op(A) op(B) + beta C, read where it stands: for problems so small or so narrow that
// copying panels first (cpu_panels.cl) would take longer than it saves.
//
// A work-group is one work-item, which has a core to itself. It computes a tile of C in blocks of up to
// VECTORS vectors and COLS columns, which stay in registers for all k. Vectors of a direct A are read as
// they are, and asked for in advance, because its columns may be pages apart. Where A is transposed, four k
// of four rows are read at once and transposed in registers. At the edge a vector has as many rows as are
// left, and a block as many columns. Blocks follow each other along M first, so that a tile's A, which stays
// in the caches, is read again, and C is written from neighbour to neighbour.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major, but for C with ROWS_C. Offsets, strides and
// leading dimensions in elements. Work-groups in the first dimension walk over tiles of tile_m x tile_n,
// those in the second over the batch.

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

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/cpu/cpu_block.h"

// acc += a block's A and B of one k.
#define MULTIPLY_ADD(count, cols, a_k, k)                        \
  EACH(n, cols) {                                                \
    const FLOAT(WIDTH) b = (FLOAT(WIDTH))(B[n * b_n + (k)*b_k]); \
    EACH(v, count) { acc[n][v] = fma(a_k[v], b, acc[n][v]); }    \
  }

#if TRANS_A
// Where fewer than four rows are there, the last is read again.
#define MULTIPLY_ALL(count, cols, is_part)                                                          \
  long k = 0;                                                                                       \
  for (; k + 4 <= K; k += 4) {                                                                      \
    float4 a_k[4][count];                                                                           \
    EACH(v, count) {                                                                                \
      const __global float* rows = A + v * 4 * lda + k;                                             \
      const int most = is_part && v == count - 1 ? last - 1 : 3;                                    \
      TRANSPOSE_4X4(a_k[0][v], a_k[1][v], a_k[2][v], a_k[3][v], vload4(0, rows),                    \
                    vload4(0, rows + LEAST(1, most) * lda), vload4(0, rows + LEAST(2, most) * lda), \
                    vload4(0, rows + LEAST(3, most) * lda));                                        \
    }                                                                                               \
    EACH(i, 4) { MULTIPLY_ADD(count, cols, a_k[i], k + i) }                                         \
  }                                                                                                 \
  for (; k < K; ++k) {                                                                              \
    float4 a_k[count];                                                                              \
    EACH(v, count) {                                                                                \
      const __global float* rows = A + v * 4 * lda + k;                                             \
      const int most = is_part && v == count - 1 ? last - 1 : 3;                                    \
      a_k[v].x = rows[0];                                                                           \
      a_k[v].y = rows[LEAST(1, most) * lda];                                                        \
      a_k[v].z = rows[LEAST(2, most) * lda];                                                        \
      a_k[v].w = rows[LEAST(3, most) * lda];                                                        \
    }                                                                                               \
    MULTIPLY_ADD(count, cols, a_k, k)                                                               \
  }
#else
#define MULTIPLY_ALL(count, cols, is_part)                                                           \
  for (long k = 0; k < K; ++k) {                                                                     \
    FLOAT(WIDTH) a_k[count];                                                                         \
    EACH(v, count) {                                                                                 \
      const __global float* vector = A + k * lda + v * WIDTH;                                        \
      prefetch(vector + AHEAD * lda, 1);                                                             \
      a_k[v] = is_part && v == count - 1 ? LOAD_ROWS(WIDTH)(vector, last) : VLOAD(WIDTH)(0, vector); \
    }                                                                                                \
    MULTIPLY_ADD(count, cols, a_k, k)                                                                \
  }
#endif

// Blocks of `count` vectors and `cols` columns, one after the other along `rows` rows, which whole blocks
// have, or along `columns` columns, where they are parts. The factors are read after the sums over k, which
// need all registers.
#define DEFINE_BLOCKS(name, count, cols, is_part)                                                        \
  OWN_FUNCTION void name##_x_##cols(const GemmArguments* p, const __global float* A,                     \
                                    const __global float* B, const __global float* c, __global float* d, \
                                    const long rows, const long columns) {                               \
    const long K = p->K, lda = p->a.ld, ldb = p->b.ld, ldc = p->c.ld, ldd = p->d.ld;                     \
    const long b_n = TRANS_B ? 1 : ldb, b_k = TRANS_B ? ldb : 1;                                         \
    const int last = is_part ? (int)rows - (count - 1) * WIDTH : WIDTH;                                  \
    const long steps = is_part ? columns / cols : rows / (count * WIDTH);                                \
    for (long step = 0; step < steps; ++step) {                                                          \
      FLOAT(WIDTH) acc[cols][count];                                                                     \
      EACH(n, cols) {                                                                                    \
        EACH(v, count) { acc[n][v] = (FLOAT(WIDTH))(0.0f); }                                             \
      }                                                                                                  \
      MULTIPLY_ALL(count, cols, is_part)                                                                 \
      const float alpha = p->alpha, beta = p->beta;                                                      \
      UPDATE_BLOCK(count, cols, last)                                                                    \
      A += is_part ? 0 : count * WIDTH * (TRANS_A ? lda : 1);                                            \
      B += is_part ? cols * b_n : 0;                                                                     \
      c += is_part ? position_c(0, cols, ldc) : position_c(count * WIDTH, 0, ldc);                       \
      d += is_part ? position_c(0, cols, ldd) : position_c(count * WIDTH, 0, ldd);                       \
    }                                                                                                    \
  }
#define DEFINE_COLUMNS(cols)             \
  DEFINE_BLOCKS(whole, VECTORS, cols, 0) \
  DEFINE_BLOCKS(part_1, 1, cols, 1)      \
  DEFINE_BLOCKS(part_2, 2, cols, 1)      \
  DEFINE_BLOCKS(part_3, 3, cols, 1)      \
  DEFINE_BLOCKS(part_4, 4, cols, 1)
FOR_COLUMNS(DEFINE_COLUMNS)

#define COLUMNS(cols)                                    \
  if (there == cols) {                                   \
    if (part < rows) {                                   \
      whole_x_##cols(&p, a, b, c, d, rows - part, cols); \
    }                                                    \
    if (part > 0) {                                      \
      SELECT_VECTORS(CEIL_DIV(part, WIDTH), PART, cols)  \
    }                                                    \
  }
#define PART(count, cols)                                                        \
  part_##count##_x_##cols(&p, a_part, b, c + position_c(rows - part, 0, p.c.ld), \
                          d + position_c(rows - part, 0, p.d.ld), part, columns)

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
cpu_direct(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
           const __global float* B, const __global long* b_table, const __global float* C,
           const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  long first_row, first_col;
  find_tile(&first_row, &first_col, p.M, p.tile_m, p.tile_n);
  const long rows = LEAST(p.tile_m, p.M - first_row);
  const long part = rows % (VECTORS * WIDTH);  // the rows that are left of whole blocks
  const long end_col = LEAST(first_col + p.tile_n, p.N);

  const long members_apart = (long)get_num_groups(1);  // asked once: a CPU looks for it
  for (long member = get_group_id(1); member < p.batch; member += members_apart) {
    const __global float* a = FIND_MEMBER(A, p.a, a_table, member) + first_row * (TRANS_A ? p.a.ld : 1);
    const __global float* b = FIND_MEMBER(B, p.b, b_table, member) + first_col * (TRANS_B ? 1 : p.b.ld);
    const __global float* c = FIND_MEMBER(C, p.c, c_table, member) + position_c(first_row, first_col, p.c.ld);
    __global float* d = FIND_MEMBER(D, p.d, d_table, member) + position_c(first_row, first_col, p.d.ld);
    const __global float* a_part = a + (rows - part) * (TRANS_A ? p.a.ld : 1);
    for (long col = first_col; col < end_col;) {
      const int there = columns_of_block(end_col - col);
      const long columns = part < rows ? there : columns_alike(end_col - col);
      FOR_COLUMNS(COLUMNS)
      col += columns;
      b += columns * (TRANS_B ? 1 : p.b.ld);
      c += position_c(0, columns, p.c.ld);
      d += position_c(0, columns, p.d.ld);
    }
  }
}
