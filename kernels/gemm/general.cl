// The general kernel: any size, any transpose, any leading dimension, offset and batch, without a pass before
// or after.
//
// Tiles of op(A) and op(B) go through local memory into register blocks, as in rung 6. What is beyond the
// edge is read as -0 in A and +0 in B: their product is -0, which changes no sum (see support/pad.cl). The
// edge costs the interior two comparisons per loaded value; there is no branch in the loop over k.
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
#ifndef BATCH
#define BATCH 0  // how the members of a batch are found: strides, offsets or addresses, see batch.h: 0 1 2
#endif

#include "dialect.h"
#include "gemm/batch.h"
#include "update.h"

#define RTSM (TSM / WPTM)
#define RTSN (TSN / WPTN)
#define WORK_ITEMS (RTSM * RTSN)
#define LPTA (TSK * TSM / WORK_ITEMS)
#define LPTB (TSK * TSN / WORK_ITEMS)

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
general(PRODUCT_PARAMETERS) {
  const int tidm = get_local_id(0);
  const int tidn = get_local_id(1);
  const int tid = tidn * RTSM + tidm;
  const long tiles_m = (M + TSM - 1) / TSM;
  const long first_row = ((long)get_group_id(0) % tiles_m) * TSM;
  const long first_col = ((long)get_group_id(0) / tiles_m) * TSN;
  __local float Asub[TSK][TSM + 1];  // [k][m]
  __local float Bsub[TSK][TSN + 1];  // [k][n]

  for (long member = get_group_id(1); member < batch; member += get_num_groups(1)) {
    const __global float* a_member = MEMBER(A, a_offset, a_stride, a_table, member);
    const __global float* b_member = MEMBER(B, b_offset, b_stride, b_table, member);
    __global float* c_member = MEMBER(C, c_offset, c_stride, c_table, member);

    float acc[WPTN][WPTM];
#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
      for (int wm = 0; wm < WPTM; ++wm) {
        acc[wn][wm] = 0.0f;
      }
    }

    for (long tile = 0; tile < K; tile += TSK) {
      // Neighbouring work-items load neighbours in memory: down a column as the matrix is stored.
#pragma unroll
      for (int l = 0; l < LPTA; ++l) {
        const int id = l * WORK_ITEMS + tid;
        const int m = TRANS_A ? id / TSK : id % TSM;
        const int k = TRANS_A ? id % TSK : id / TSM;
        const long row = first_row + m;
        const long p = tile + k;
        Asub[k][m] = (row < M && p < K) ? a_member[TRANS_A ? row * lda + p : p * lda + row] : -0.0f;
      }
#pragma unroll
      for (int l = 0; l < LPTB; ++l) {
        const int id = l * WORK_ITEMS + tid;
        const int n = TRANS_B ? id % TSN : id / TSK;
        const int k = TRANS_B ? id / TSN : id % TSK;
        const long col = first_col + n;
        const long p = tile + k;
        Bsub[k][n] = (col < N && p < K) ? b_member[TRANS_B ? p * ldb + col : col * ldb + p] : 0.0f;
      }
      barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 8
      for (int k = 0; k < TSK; ++k) {
        float b[WPTN];
#pragma unroll
        for (int wn = 0; wn < WPTN; ++wn) {
          b[wn] = Bsub[k][tidn + wn * RTSN];
        }
#pragma unroll
        for (int wm = 0; wm < WPTM; ++wm) {
          const float a = Asub[k][tidm + wm * RTSM];
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
      const long col = first_col + tidn + wn * RTSN;
#pragma unroll
      for (int wm = 0; wm < WPTM; ++wm) {
        const long row = first_row + tidm + wm * RTSM;
        if (row < M && col < N) {
          UPDATE(float, c_member[col * ldc + row], alpha, acc[wn][wm], beta);
        }
      }
    }
  }
}
