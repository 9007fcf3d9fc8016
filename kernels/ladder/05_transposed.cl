// Rung 5: transposed B and rectangular tiles.
//
// A tile that is TSK deep in K and wide in M and N has fewer barriers and less traffic per multiply-add than
// a square one, but B, which is K x N, would then be read in short runs of TSK values. So B is transposed
// first: both matrices are read along their long side. Bsub is written across its rows for that; PAD more
// values in each row keep the work-items of a sub-group in different banks.
//
// A is M x K, B is N x K; M, N and K are multiples of TSM, TSN and TSK. A work-item computes WPTN columns of
// one row.

#ifndef TSM
#define TSM 64  // work-group tile in M: 16 32 64 128
#endif
#ifndef TSN
#define TSN 64  // work-group tile in N: 16 32 64 128
#endif
#ifndef TSK
#define TSK 32  // tile in K: 8 16 32
#endif
#ifndef WPTN
#define WPTN 8  // columns of C per work-item: 1 2 4 8 16
#endif
#ifndef PAD
#define PAD 1  // unused values after each row of Bsub: 0 1 2
#endif

#include "dialect.h"
#include "update.h"

#define RTSN (TSN / WPTN)
#define WORK_ITEMS (TSM * RTSN)
#define LPTA (TSK * TSM / WORK_ITEMS)
#define LPTB (TSK * TSN / WORK_ITEMS)

__kernel __attribute__((reqd_work_group_size(TSM, RTSN, 1))) void
transposed(const int M, const int N, const int K, const float alpha, const __global float* A,
           const __global float* B, const float beta, __global float* C) {
  const int tidm = get_local_id(0);
  const int tidn = get_local_id(1);
  const int tid = tidn * TSM + tidm;
  const int offset_m = TSM * get_group_id(0);
  const int offset_n = TSN * get_group_id(1);
  __local float Asub[TSK][TSM];        // [k][m]
  __local float Bsub[TSN][TSK + PAD];  // [n][k]

  float acc[WPTN];
#pragma unroll
  for (int w = 0; w < WPTN; ++w) {
    acc[w] = 0.0f;
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
      const float a = Asub[k][tidm];
#pragma unroll
      for (int w = 0; w < WPTN; ++w) {
        acc[w] = fma(a, Bsub[tidn + w * RTSN][k], acc[w]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int w = 0; w < WPTN; ++w) {
    UPDATE(float, C[(offset_n + tidn + w * RTSN) * M + offset_m + tidm], alpha, acc[w], beta);
  }
}
