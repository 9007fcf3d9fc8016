// The kernels for CPUs have a block of C in vector registers.
//
// The block has up to VECTORS vectors of WIDTH rows in each of up to COLS columns. Functions of a block are
// made for each number of vectors and of columns, because only arrays in loops of constant length become
// registers. SELECT_VECTORS and FOR_COLUMNS help to call one.

#include "gemm/cpu/cpu_transpose.h"
#include "update.h"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#if !defined(UNROLL)  // the dialect for the host's compiler has its own
#define UNROLL _Pragma("unroll")
#endif
#define EACH(i, count) UNROLL for (int i = 0; i < count; ++i)

// Floats in a line of a cache, and the columns of A, or rows of B as stored, that are asked for in advance.
enum { LINE = 16, AHEAD = 8 };

#define SELECT_VECTORS(count, call, cols)  \
  if (VECTORS >= 4 && count == 4) {        \
    call(4, cols);                         \
  } else if (VECTORS >= 3 && count == 3) { \
    call(3, cols);                         \
  } else if (VECTORS >= 2 && count == 2) { \
    call(2, cols);                         \
  } else {                                 \
    call(1, cols);                         \
  }

// The host's compiler must not inline functions of a block: it would have some of their vectors in memory. A
// device's inlines all of them, and takes long for many.
#if defined(OWN_FUNCTION)
// The columns of a block where so many are left: the last two blocks are as wide as each other. But C is
// written by rows in fours of columns: there are as few of these as can be.
FUNCTION int
columns_of_block(const long left) {
  if (left <= COLS) {
    return (int)left;
  }
  if (left >= 2 * COLS || (ROWS_C && COLS <= 4)) {
    return COLS;
  }
  return (int)(ROWS_C ? LEAST(left - 4, COLS) : (left + 1) / 2);
}
#define IF_OWN(call) call
#else
#define OWN_FUNCTION FUNCTION
FUNCTION int
columns_of_block(const long left) {
  return left >= COLS ? COLS : 1;
}
#define IF_OWN(call)
#endif
// The columns of that block and all after it that are as wide.
FUNCTION long
columns_alike(const long left) {
  const int there = columns_of_block(left);
  const long wide = left - left % COLS;
  return there < COLS ? there : columns_of_block(left - wide + COLS) == COLS ? wide : wide - COLS;
}
// Calls for_columns with each number of columns that a block may have.
#if COLS == 8
#define FOR_COLUMNS(for_columns)                                                                   \
  for_columns(1) IF_OWN(for_columns(2) for_columns(3) for_columns(4) for_columns(5) for_columns(6) \
                            for_columns(7)) for_columns(8)
#elif COLS == 4
#define FOR_COLUMNS(for_columns) for_columns(1) IF_OWN(for_columns(2) for_columns(3)) for_columns(4)
#elif COLS == 2
#define FOR_COLUMNS(for_columns) for_columns(1) for_columns(2)
#else
#define FOR_COLUMNS(for_columns) for_columns(1)
#endif

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

// Where a member of a batch begins. What a table says is found apart: a small product takes as long as what
// the host's compiler would prepare for that.
OWN_FUNCTION __global float*
listed_member(const __global float* base, const MatrixLayout* layout, const __global long* table,
              const long member) {
  return (__global float*)MEMBER(base, *layout, table, member);
}
#define FIND_MEMBER(base, layout, table, member)                        \
  ((table) == 0 ? (base) + (layout).offset + (member) * (layout).stride \
                : listed_member(base, &(layout), table, member))

// The distance of element (row, col) of C or D from the first.
FUNCTION long
position_c(const long row, const long col, const long ld) {
  return ROWS_C ? row * ld + col : col * ld + row;
}

// Load and store the first `count` elements of a vector alone; the others are loaded as 0. The host's
// compiler may have instructions for that.
#if !defined(LOAD_ROWS)
#define LOAD_ROWS_(width) load_rows##width
#define STORE_ROWS_(width) store_rows##width
#define LOAD_ROWS(width) LOAD_ROWS_(width)
#define STORE_ROWS(width) STORE_ROWS_(width)
#define DEFINE_ROWS(width)                                                                          \
  FUNCTION FLOAT(width) LOAD_ROWS(width)(const __global float* from, const int count) {             \
    float rows[width];                                                                              \
    for (int i = 0; i < width; ++i) {                                                               \
      rows[i] = i < count ? from[i] : 0.0f;                                                         \
    }                                                                                               \
    return VLOAD(width)(0, rows);                                                                   \
  }                                                                                                 \
  FUNCTION void STORE_ROWS(width)(const FLOAT(width) vector, __global float* to, const int count) { \
    float rows[width];                                                                              \
    VSTORE(width)(vector, 0, rows);                                                                 \
    for (int i = 0; i < LEAST(count, width); ++i) {                                                 \
      to[i] = rows[i];                                                                              \
    }                                                                                               \
  }
DEFINE_ROWS(4)
#if WIDTH > 4
DEFINE_ROWS(WIDTH)
#endif
#endif

// Updates the first `count` rows of a column's vector, of which acc has the sums.
FUNCTION void
update_rows(__global float* d, const __global float* c, const int count, const float alpha, const float beta,
            const FLOAT(WIDTH) acc) {
  FLOAT(WIDTH) result;
  if (count >= WIDTH) {
    UPDATE_FROM(FLOAT(WIDTH), result, alpha, acc, beta, VLOAD(WIDTH)(0, c));
    VSTORE(WIDTH)(result, 0, d);
  } else {
    UPDATE_FROM(FLOAT(WIDTH), result, alpha, acc, beta, LOAD_ROWS(WIDTH)(c, count));
    STORE_ROWS(WIDTH)(result, d, count);
  }
}

// Updates the first `count` rows of a C that is stored by rows, `cols` columns of it, with the sums of a
// vector in each. Four rows of four columns change places in registers.
FUNCTION void
update_by_rows(__global float* d, const long ldd, const __global float* c, const long ldc, const int count,
               const int cols, const float alpha, const float beta, const float sums[][WIDTH]) {
  for (int i = 0; i < count; i += 4) {
    for (int n = 0; n < cols; n += 4) {
      float4 rows[4];
      TRANSPOSE_4X4(rows[0], rows[1], rows[2], rows[3], vload4(0, sums[n] + i),
                    vload4(0, sums[LEAST(n + 1, cols - 1)] + i), vload4(0, sums[LEAST(n + 2, cols - 1)] + i),
                    vload4(0, sums[LEAST(n + 3, cols - 1)] + i));
      EACH(r, 4) {
        if (i + r < count) {
          const __global float* from = c + (i + r) * ldc + n;
          __global float* to = d + (i + r) * ldd + n;
          float4 result;
          if (n + 4 <= cols) {
            UPDATE_FROM(float4, result, alpha, rows[r], beta, vload4(0, from));
            vstore4(result, 0, to);
          } else {
            UPDATE_FROM(float4, result, alpha, rows[r], beta, LOAD_ROWS(4)(from, cols - n));
            STORE_ROWS(4)(result, to, cols - n);
          }
        }
      }
    }
  }
}

// Updates C, from c and d on, with a block's sums acc[cols][count]. Of its last vector `last` rows are there.
#define UPDATE_BLOCK_TIMES_BETA(count, cols, last, beta)                                                   \
  if (ROWS_C) {                                                                                            \
    EACH(v, count) {                                                                                       \
      float sums[cols][WIDTH];                                                                             \
      EACH(n, cols) { VSTORE(WIDTH)(acc[n][v], 0, sums[n]); }                                              \
      update_by_rows(d + v * WIDTH * ldd, ldd, c + v * WIDTH * ldc, ldc,                                   \
                     v < count - 1 ? WIDTH : LEAST(last, WIDTH), cols, alpha, beta, sums);                 \
    }                                                                                                      \
  } else {                                                                                                 \
    EACH(n, cols) {                                                                                        \
      EACH(v, count) {                                                                                     \
        update_rows(d + n * ldd + v * WIDTH, c + n * ldc + v * WIDTH, v < count - 1 ? WIDTH : last, alpha, \
                    beta, acc[n][v]);                                                                      \
      }                                                                                                    \
    }                                                                                                      \
  }
#define UPDATE_BLOCK(count, cols, last)              \
  if (beta == 0.0f) {                                \
    UPDATE_BLOCK_TIMES_BETA(count, cols, last, 0.0f) \
  } else {                                           \
    UPDATE_BLOCK_TIMES_BETA(count, cols, last, beta) \
  }
