// Rung 6: two-dimensional register blocking.
//
// A work-item computes WPTM x WPTN elements. For each k it loads WPTM values of A and WPTN of B into
// registers and multiplies each with each: (WPTM + WPTN) / (WPTM * WPTN) local loads per multiply-add, 0.25
// for 8 x 8 against rung 5's 1.125.
//
// A is M x K, B is N x K; M, N and K are multiples of TSM, TSN and TSK. A work-item's rows stand RTSM apart
// and its columns RTSN, so that neighbouring work-items read neighbouring values.

#ifndef TSM
#define TSM 128  // work-group tile in M: 16 32 64 128
#endif
#ifndef TSN
#define TSN 128  // work-group tile in N: 16 32 64 128
#endif
#ifndef TSK
#define TSK 16  // tile in K: 8 16 32
#endif
#ifndef WPTM
#define WPTM 8  // rows of C per work-item: 1 2 4 8
#endif
#ifndef WPTN
#define WPTN 8  // columns of C per work-item: 1 2 4 8
#endif
#ifndef PAD
#define PAD 1  // unused values after each row of Bsub: 0 1 2
#endif

#include "dialect.h"
#include "update.h"

#define RTSM (TSM / WPTM)
#define RTSN (TSN / WPTN)
#define WORK_ITEMS (RTSM * RTSN)
#define LPTA (TSK * TSM / WORK_ITEMS)
#define LPTB (TSK * TSN / WORK_ITEMS)

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
register_2d(const int M, const int N, const int K, const float alpha, const __global float* A,
            const __global float* B, const float beta, __global float* C) {
  const int tidm = get_local_id(0);
  const int tidn = get_local_id(1);
  const int tid = tidn * RTSM + tidm;
  const int offset_m = TSM * get_group_id(0);
  const int offset_n = TSN * get_group_id(1);
  __local float Asub[TSK][TSM];        // [k][m]
  __local float Bsub[TSN][TSK + PAD];  // [n][k]

  float acc[WPTN][WPTM];
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
    for (int wm = 0; wm < WPTM; ++wm) {
      acc[wn][wm] = 0.0f;
    }
  }

  for (int tile = 0; tile < K; tile += TSK) {
#pragma unroll
    for (int l = 0; l < LPTA; ++l) {
      const int id = l * WORK_ITEMS + tid;
      Asub[id / TSM][id % TSM] = A[(tile + id / TSM) * M + offset_m + id % TSM];
    }
#pragma unroll
    for (int l = 0; l < LPTB; ++l) {
      const int id = l * WORK_ITEMS + tid;
      Bsub[id % TSN][id / TSN] = B[(tile + id / TSN) * N + offset_n + id % TSN];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 8
    for (int k = 0; k < TSK; ++k) {
      float b[WPTN];
#pragma unroll
      for (int wn = 0; wn < WPTN; ++wn) {
        b[wn] = Bsub[tidn + wn * RTSN][k];
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
    const int col = offset_n + tidn + wn * RTSN;
#pragma unroll
    for (int wm = 0; wm < WPTM; ++wm) {
      UPDATE(float, C[col * M + offset_m + tidm + wm * RTSM], alpha, acc[wn][wm], beta);
    }
  }
}
