// The general kernel: any size, any transpose, any leading dimension, offset and batch, without a pass before
// or after.
//
// Tiles of op(A) and op(B) go through registers into local memory, and from there into register blocks, as in
// rung 6; while one pair is multiplied, the next is on its way into registers. Columns of a tile that are
// beyond the edge of C are never used: others are read in their place, and no comparison is left in the loop
// over k. Of the last tile, only the rows that are there are read and multiplied.
// Work-groups are numbered in one dimension, whose limit is 2^31, tiles along M first, and walk over the
// batch in another.
//
// op(A) is M x K, op(B) is K x N, C and D are M x N, all column-major. Offsets, strides and leading
// dimensions in elements.

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
#endif
#ifndef TSM
#define TSM 64  // work-group tile in M: 16 24 32 40 48 64 80 96 128
#endif
#ifndef TSN
#define TSN 64  // work-group tile in N: 16 24 32 40 48 64 80 96 128
#endif
#ifndef TSK
#define TSK 16  // tile in K: 8 16 32
#endif
#ifndef WPTM
#define WPTM 4  // rows of C per work-item: 1 2 3 4 5 6 8
#endif
#ifndef WPTN
#define WPTN 4  // columns of C per work-item: 1 2 3 4 5 6 8
#endif
#ifndef LONG_OFFSETS
#define LONG_OFFSETS 0  // how far it is from one end of a tile to the other does not fit in 31 bits: 0 1
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "update.h"

#if LONG_OFFSETS
typedef long Offset;
#else
typedef int Offset;
#endif

enum { RTSM = TSM / WPTM, RTSN = TSN / WPTN, WORK_ITEMS = RTSM * RTSN };

// --- Tiles -------------------------------------------------------------------------------------------------
// These functions are for one operand, and used for both. `size` is a tile's columns, TSM or TSN, and
// `along_k` whether neighbours in memory are neighbours along k: both are constants wherever a function is
// called.

enum { A_ALONG_K = TRANS_A, B_ALONG_K = !TRANS_B };
#define VALUES(size) (TSK * (size) / WORK_ITEMS)     // that a work-item loads of a tile
#define TILE_LD(size, along_k) ((size) + (along_k))  // one more column where work-items store down a column
enum { MOST_VALUES = VALUES(TSM) > VALUES(TSN) ? VALUES(TSM) : VALUES(TSN) };

typedef struct {
  const __global float* tile;  // where the tile begins that is loaded next
  Offset next_k;               // how far it is in memory from one row (k) to the next
  Offset from[MOST_VALUES];    // where a work-item reads, from there
  float loaded[MOST_VALUES];
} Operand;

// The row (k) and the column of the l-th value of a tile that a work-item loads. Neighbouring work-items load
// neighbours in memory: down a column as the matrix is stored.
FUNCTION uint
row_of(const uint tid, const int l, const int size, const int along_k) {
  return along_k ? (l * WORK_ITEMS + tid) % TSK : (l * WORK_ITEMS + tid) / size;
}
FUNCTION uint
column_in_tile(const uint tid, const int l, const int size, const int along_k) {
  return along_k ? (l * WORK_ITEMS + tid) / TSK : (l * WORK_ITEMS + tid) % size;
}

// `matrix` is where the first tile begins, of whose columns `columns` are there.
FUNCTION void
begin_operand(Operand* x, const __global float* matrix, const long ld, const int columns, const uint tid,
              const int size, const int along_k) {
  const Offset next_column = along_k ? (Offset)ld : 1;
  x->tile = matrix;
  x->next_k = along_k ? 1 : (Offset)ld;
#pragma unroll
  for (int l = 0; l < VALUES(size); ++l) {
    x->from[l] = EXISTING((int)column_in_tile(tid, l, size, along_k), columns) * next_column +
                 (int)row_of(tid, l, size, along_k) * x->next_k;
    x->loaded[l] = 0.0f;
  }
}

// Loads a tile, of which `rows` rows are there, and moves on to the next. The others are not multiplied.
FUNCTION void
load_tile(Operand* x, const int rows, const uint tid, const int size, const int along_k) {
#pragma unroll
  for (int l = 0; l < VALUES(size); ++l) {
    const bool is_there =
        along_k ? row_of(tid, l, size, along_k) < (uint)rows : l * WORK_ITEMS + tid < (uint)rows * size;
    if (rows >= TSK || is_there) {
      x->loaded[l] = x->tile[x->from[l]];
    }
  }
  x->tile += (long)TSK * x->next_k;
}

FUNCTION void
store_tile(const Operand* x, LOCAL_PTR float* tile, const uint tid, const int size, const int along_k) {
#pragma unroll
  for (int l = 0; l < VALUES(size); ++l) {
    const uint place =
        row_of(tid, l, size, along_k) * TILE_LD(size, along_k) + column_in_tile(tid, l, size, along_k);
    tile[along_k ? place : l * WORK_ITEMS + tid] = x->loaded[l];
  }
}

FUNCTION void
load_tiles(Operand* a, Operand* b, const int rows, const uint tid) {
  load_tile(a, rows, tid, TSM, A_ALONG_K);
  load_tile(b, rows, tid, TSN, B_ALONG_K);
}
FUNCTION void
store_tiles(const Operand* a, const Operand* b, LOCAL_PTR float* a_tile, LOCAL_PTR float* b_tile,
            const uint tid) {
  store_tile(a, a_tile, tid, TSM, A_ALONG_K);
  store_tile(b, b_tile, tid, TSN, B_ALONG_K);
}

// --- Sums --------------------------------------------------------------------------------------------------

// Adds the products of `rows` rows of a pair of tiles.
FUNCTION void
multiply_tiles(float acc[WPTN][WPTM], const LOCAL_PTR float* a_tile, const LOCAL_PTR float* b_tile,
               const int rows, const int tidm, const int tidn) {
#pragma unroll 8
  for (int k = 0; k < rows; ++k) {
    float b[WPTN];
#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
      b[wn] = b_tile[k * TILE_LD(TSN, B_ALONG_K) + tidn + wn * RTSN];
    }
#pragma unroll
    for (int wm = 0; wm < WPTM; ++wm) {
      const float a = a_tile[k * TILE_LD(TSM, A_ALONG_K) + tidm + wm * RTSM];
#pragma unroll
      for (int wn = 0; wn < WPTN; ++wn) {
        acc[wn][wm] = fma(a, b[wn], acc[wn][wm]);
      }
    }
  }
}

// `c` and `d` are a work-item's first elements; of the tile, `rows` rows and `cols` columns are there.
FUNCTION void
write_sums(__global float* d, const Offset ldd, const __global float* c, const Offset ldc, const float alpha,
           const float beta, float acc[WPTN][WPTM], const int rows, const int cols, const int tidm,
           const int tidn) {
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
    for (int wm = 0; wm < WPTM; ++wm) {
      if (tidm + wm * RTSM < rows && tidn + wn * RTSN < cols) {
        UPDATE_FROM(float, d[wn * RTSN * ldd + wm * RTSM], alpha, acc[wn][wm], beta,
                    c[wn * RTSN * ldc + wm * RTSM]);
      }
    }
  }
}

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
general(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
        const __global float* B, const __global long* b_table, const __global float* C,
        const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  const long tiles_m = (p.M + TSM - 1) / TSM;
  const long first_row = ((long)get_group_id(0) % tiles_m) * TSM;
  const long first_col = ((long)get_group_id(0) / tiles_m) * TSN;
  __local float a_tile[TSK * TILE_LD(TSM, A_ALONG_K)];  // [k][m]
  __local float b_tile[TSK * TILE_LD(TSN, B_ALONG_K)];  // [k][n]

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    int tidm = get_local_id(0);
    int tidn = get_local_id(1);
    OPAQUE(tidm);
    OPAQUE(tidn);
    const uint tid = tidn * RTSM + tidm;
    const int rows = (int)LEAST(p.M - first_row, TSM);
    const int cols = (int)LEAST(p.N - first_col, TSN);

    Operand a;
    Operand b;
    begin_operand(&a, MEMBER(A, p.a, a_table, member) + first_row * (TRANS_A ? p.a.ld : 1), p.a.ld, rows, tid,
                  TSM, A_ALONG_K);
    begin_operand(&b, MEMBER(B, p.b, b_table, member) + first_col * (TRANS_B ? 1 : p.b.ld), p.b.ld, cols, tid,
                  TSN, B_ALONG_K);
    float acc[WPTN][WPTM];
#pragma unroll
    for (int row = 0; row < WPTN; ++row) {
      set_to_zero(acc[row], WPTM);
    }

    int depth = (int)LEAST(p.K, TSK);
    load_tiles(&a, &b, depth, tid);
    for (long left = p.K; left > 0; left -= TSK) {
      store_tiles(&a, &b, a_tile, b_tile, tid);
      barrier(CLK_LOCAL_MEM_FENCE);
      const int now = depth;
      if (left > TSK) {
        depth = (int)LEAST(left - TSK, TSK);
        load_tiles(&a, &b, depth, tid);
      }
      multiply_tiles(acc, a_tile, b_tile, now, tidm, tidn);
      barrier(CLK_LOCAL_MEM_FENCE);
    }

    // Or else compilers find out before the loop over k which elements there are, and keep it all along.
    OPAQUE(tidm);
    OPAQUE(tidn);
    __global float* d = MEMBER(D, p.d, d_table, member) + (first_col + tidn) * p.d.ld + first_row + tidm;
    if (p.beta == 0.0f) {
      write_sums(d, (Offset)p.d.ld, d, 0, p.alpha, 0.0f, acc, rows, cols, tidm, tidn);
    } else {
      const __global float* c =
          MEMBER(C, p.c, c_table, member) + (first_col + tidn) * p.c.ld + first_row + tidm;
      write_sums(d, (Offset)p.d.ld, c, (Offset)p.c.ld, p.alpha, p.beta, acc, rows, cols, tidm, tidn);
    }
  }
}
