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
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major. Offsets, strides and leading dimensions in
// elements.

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
#include "gemm/batch.h"
#include "gemm/existing.h"
#include "update.h"

#if LONG_OFFSETS
#define OFFSET long
#else
#define OFFSET int
#endif

#define RTSM (TSM / WPTM)
#define RTSN (TSN / WPTN)
#define WORK_ITEMS (RTSM * RTSN)
#define LPTA (TSK * TSM / WORK_ITEMS)
#define LPTB (TSK * TSN / WORK_ITEMS)

// The l-th value of a tile that a work-item loads. Neighbouring work-items load neighbours in memory: down a
// column as the matrix is stored. Whether that value is among the first `rows` rows, and where it goes.
#define LOADED(l) ((l)*WORK_ITEMS + tid)
#define A_K(l) (TRANS_A ? LOADED(l) % TSK : LOADED(l) / TSM)
#define A_M(l) (TRANS_A ? LOADED(l) / TSK : LOADED(l) % TSM)
#define A_THERE(l, rows) (TRANS_A ? A_K(l) < (uint)(rows) : LOADED(l) < (uint)(rows)*TSM)
#define A_LD (TSM + TRANS_A)
#define A_PLACE(l) (TRANS_A ? A_K(l) * A_LD + A_M(l) : LOADED(l))
#define B_K(l) (TRANS_B ? LOADED(l) / TSN : LOADED(l) % TSK)
#define B_N(l) (TRANS_B ? LOADED(l) % TSN : LOADED(l) / TSK)
#define B_THERE(l, rows) (TRANS_B ? LOADED(l) < (uint)(rows)*TSN : B_K(l) < (uint)(rows))
#define B_LD (TSN + !TRANS_B)
#define B_PLACE(l) (TRANS_B ? LOADED(l) : B_K(l) * B_LD + B_N(l))

// How far it is in memory from one row (k) or column (m, n) of a tile to the next.
#define A_NEXT_K (TRANS_A ? 1 : (OFFSET)p.lda)
#define A_NEXT_M (TRANS_A ? (OFFSET)p.lda : 1)
#define B_NEXT_K (TRANS_B ? (OFFSET)p.ldb : 1)
#define B_NEXT_N (TRANS_B ? 1 : (OFFSET)p.ldb)

// Loads a pair of tiles, of which `rows` rows are there. The others are not multiplied.
#define LOAD(rows)                                     \
  do {                                                 \
    _Pragma("unroll") for (int l = 0; l < LPTA; ++l) { \
      if ((rows) >= TSK || A_THERE(l, rows)) {         \
        a_loaded[l] = a_tile[a_from[l]];               \
      }                                                \
    }                                                  \
    _Pragma("unroll") for (int l = 0; l < LPTB; ++l) { \
      if ((rows) >= TSK || B_THERE(l, rows)) {         \
        b_loaded[l] = b_tile[b_from[l]];               \
      }                                                \
    }                                                  \
    a_tile += (long)TSK * A_NEXT_K;                    \
    b_tile += (long)TSK * B_NEXT_K;                    \
  } while (0)

NUMBERS_OF(PRODUCT);

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
general(PARAMETERS(PRODUCT)) {
  NUMBERS(PRODUCT);
  const long tiles_m = (p.M + TSM - 1) / TSM;
  const long first_row = ((long)get_group_id(0) % tiles_m) * TSM;
  const long first_col = ((long)get_group_id(0) / tiles_m) * TSN;
  __local float Asub[TSK * A_LD];  // [k][m]
  __local float Bsub[TSK * B_LD];  // [k][n]

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    int tidm = get_local_id(0);
    int tidn = get_local_id(1);
    OPAQUE(tidm);
    OPAQUE(tidn);
    const uint tid = tidn * RTSM + tidm;
    const int rows = (int)LEAST(p.M - first_row, TSM);
    const int cols = (int)LEAST(p.N - first_col, TSN);

    // Where a work-item reads, from where a tile begins.
    OFFSET a_from[LPTA];
    OFFSET b_from[LPTB];
#pragma unroll
    for (int l = 0; l < LPTA; ++l) {
      a_from[l] = EXISTING((int)A_M(l), rows) * A_NEXT_M + (int)A_K(l) * A_NEXT_K;
    }
#pragma unroll
    for (int l = 0; l < LPTB; ++l) {
      b_from[l] = EXISTING((int)B_N(l), cols) * B_NEXT_N + (int)B_K(l) * B_NEXT_K;
    }

    const __global float* a_tile =
        MEMBER(A, p.a_offset, p.a_stride, a_table, member) + first_row * (TRANS_A ? p.lda : 1);
    const __global float* b_tile =
        MEMBER(B, p.b_offset, p.b_stride, b_table, member) + first_col * (TRANS_B ? 1 : p.ldb);
    __global float* c_first =
        MEMBER(C, p.c_offset, p.c_stride, c_table, member) + (first_col + tidn) * p.ldc + first_row + tidm;

    float acc[WPTN][WPTM];
#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
      for (int wm = 0; wm < WPTM; ++wm) {
        acc[wn][wm] = 0.0f;
      }
    }

    float a_loaded[LPTA] = {0.0f};
    float b_loaded[LPTB] = {0.0f};
    int depth = (int)LEAST(p.K, TSK);
    LOAD(depth);
    for (long left = p.K; left > 0; left -= TSK) {
#pragma unroll
      for (int l = 0; l < LPTA; ++l) {
        Asub[A_PLACE(l)] = a_loaded[l];
      }
#pragma unroll
      for (int l = 0; l < LPTB; ++l) {
        Bsub[B_PLACE(l)] = b_loaded[l];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      const int now = depth;
      if (left > TSK) {
        depth = (int)LEAST(left - TSK, TSK);
        LOAD(depth);
      }
#pragma unroll 8
      for (int k = 0; k < now; ++k) {
        float b[WPTN];
#pragma unroll
        for (int wn = 0; wn < WPTN; ++wn) {
          b[wn] = Bsub[k * B_LD + tidn + wn * RTSN];
        }
#pragma unroll
        for (int wm = 0; wm < WPTM; ++wm) {
          const float a = Asub[k * A_LD + tidm + wm * RTSM];
#pragma unroll
          for (int wn = 0; wn < WPTN; ++wn) {
            acc[wn][wm] = fma(a, b[wn], acc[wn][wm]);
          }
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }

#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
      for (int wm = 0; wm < WPTM; ++wm) {
        if (tidm + wm * RTSM < rows && tidn + wn * RTSN < cols) {
          UPDATE(float, c_first[wn * RTSN * (OFFSET)p.ldc + wm * RTSM], p.alpha, acc[wn][wm], p.beta);
        }
      }
    }
  }
}
