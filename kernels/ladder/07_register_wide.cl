// Rung 7: wide loads with register blocking.
//
// As rung 6, but everything moves as vectors of WIDTH floats: from global memory, into local memory, and from
// there into registers. One instruction then does the work of WIDTH, and the loop has fewer of everything but
// multiply-adds. A work-item's rows and columns come in runs of WIDTH that stand RTSM and RTSN runs apart.
//
// A is M x K, B is N x K; M, N and K are multiples of TSM, TSN and TSK. M and N are counted in vectors below.

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
#ifndef WIDTH
#define WIDTH 4  // floats per load: 1 2 4 8
#endif

#include "dialect.h"
#include "update.h"
#include "ladder/wide_tile.h"

// Brings this work-item's share of a tile of TSK x `size` vectors, which begins at `from`, to local memory.
// `ld` is from one k to the next.
FUNCTION void fetch(LOCAL_PTR floatX* to, const __global floatX* from, const int ld, const int size,
                    const int tid) {
#pragma unroll
  for (int l = 0; l < TSK * size / WORK_ITEMS; ++l) {
    const int id = l * WORK_ITEMS + tid;
    to[id] = from[id / size * ld + id % size];
  }
}

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
register_wide(const int M, const int N, const int K, const float alpha, const __global floatX* A,
              const __global floatX* B, const float beta, __global floatX* C) {
  const int tidm = get_local_id(0);
  const int tidn = get_local_id(1);
  const int tid = tidn * RTSM + tidm;
  const int offset_m = TSMX * get_group_id(0);
  const int offset_n = TSNX * get_group_id(1);
  __local floatX Asub[TSK * TSMX];  // [k][m]
  __local floatX Bsub[TSK * TSNX];  // [k][n]
  floatX acc[WPTN * WPTMX];
  set_to_zero(acc);

  for (int tile = 0; tile < K; tile += TSK) {
    fetch(Asub, A + tile * (M / WIDTH) + offset_m, M / WIDTH, TSMX, tid);
    fetch(Bsub, B + tile * (N / WIDTH) + offset_n, N / WIDTH, TSNX, tid);
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply(acc, Asub, Bsub, tidm, tidn);
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
    const int col = offset_n * WIDTH + COLUMN(tidn, wn);
#pragma unroll
    for (int wm = 0; wm < WPTMX; ++wm) {
      UPDATE(floatX, C[col * (M / WIDTH) + offset_m + VECTOR(tidm, wm)], alpha, acc[wn * WPTMX + wm], beta);
    }
  }
}
