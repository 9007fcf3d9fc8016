// The kernels for CPUs have a block of C in vector registers.
//
// The block has up to VECTORS vectors of WIDTH rows in each of COLS columns. Functions of a block are made
// for each number of vectors, because only arrays in loops of constant length become registers;
// SELECT_VECTORS calls one.

#include "update.h"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#if !defined(UNROLL)  // the dialect for the host's compiler has its own
#define UNROLL _Pragma("unroll")
#endif
#define EACH(i, count) UNROLL for (int i = 0; i < count; ++i)

#define SELECT_VECTORS(count, call)        \
  if (VECTORS >= 4 && count == 4) {        \
    call(4);                               \
  } else if (VECTORS >= 3 && count == 3) { \
    call(3);                               \
  } else if (VECTORS >= 2 && count == 2) { \
    call(2);                               \
  } else {                                 \
    call(1);                               \
  }

// The first of a panel's vectors, when `vectors` of them are divided as evenly as can be.
FUNCTION long
first_vector(const long panel, const long panels, const long vectors) {
  return panel == 0 ? 0 : panel == panels ? vectors : panel * vectors / panels;
}

// The row and column where a work-group's tile of D begins. Tiles follow each other along M first. Nothing is
// divided for a small product, which takes less time than that.
FUNCTION void
find_tile(long* row, long* col, const long M, const int tile_m, const int tile_n) {
  const long tiles_m = tile_m < M ? CEIL_DIV(M, tile_m) : 1;
  const long number = (long)get_group_id(0);
  const long tile_col = tiles_m == 1 ? number : number / tiles_m;
  *row = (number - tile_col * tiles_m) * tile_m;
  *col = tile_col * tile_n;
}

// For kernels that read the operands where they stand: what block_1 and so on, their functions of a block,
// are given, and the call of the one for `count`. The block's rows begin at `row`, of those of A, C and D,
// and its columns at `col`.
#define BLOCK_PARAMETERS                                                                                     \
  const __global float *A, const long lda, const __global float *B, const long ldb, const __global float *C, \
      const long ldc, __global float *D, const long ldd, const long row, const long col, const long M,       \
      const long N, const long K, const float alpha, const float beta
#define BLOCK(count)                                                                                        \
  block_##count(a_member, p.a.ld, b_member, p.b.ld, c_member, p.c.ld, d_member, p.d.ld, row, col, p.M, p.N, \
                p.K, p.alpha, p.beta)

// The distance of element (row, col) of C or D from the first.
FUNCTION long
position_c(const long row, const long col, const long ld) {
  return ROWS_C ? row * ld + col : col * ld + row;
}

// Updates rows `begin` to `end` - 1, of WIDTH, of a column, whose first is (row, col) of C and D. C's address
// is computed only where C is read.
FUNCTION void
update_rows(__global float* D, const long ldd, const __global float* C, const long ldc, const long row,
            const long col, const int begin, const int end, const float alpha, const float beta,
            const FLOAT(WIDTH) acc) {
  __global float* d = D + position_c(row, col, ldd);
  if (!ROWS_C && begin <= 0 && end >= WIDTH) {
    if (beta == 0.0f) {
      VSTORE(WIDTH)((FLOAT(WIDTH))(alpha)*acc, 0, d);
    } else {
      const FLOAT(WIDTH) before = VLOAD(WIDTH)(0, C + position_c(row, col, ldc));
      VSTORE(WIDTH)(fma((FLOAT(WIDTH))(alpha), acc, (FLOAT(WIDTH))(beta)*before), 0, d);
    }
#ifdef STORE_ROWS  // instructions for some elements of a vector, which the host's compiler has
  } else if (!ROWS_C) {
    FLOAT(WIDTH) result = (FLOAT(WIDTH))(alpha)*acc;
    if (beta != 0.0f) {
      const FLOAT(WIDTH) before = LOAD_ROWS(WIDTH)(C + position_c(row, col, ldc), begin, end);
      result = fma((FLOAT(WIDTH))(alpha), acc, (FLOAT(WIDTH))(beta)*before);
    }
    STORE_ROWS(WIDTH)(result, d, begin, end);
#endif
  } else {
    float rows[WIDTH];
    VSTORE(WIDTH)(acc, 0, rows);
    for (int i = begin; i < LEAST(end, WIDTH); ++i) {
      UPDATE_FROM(float, d[position_c(i, 0, ldd)], alpha, rows[i], beta, C[position_c(row + i, col, ldc)]);
    }
  }
}
