// Rung 9: prefetch, with local memory double-buffered.
//
// In rung 8 every work-item of a group waits while the next tile arrives. Here the next tile is fetched into
// registers before the current one is multiplied, and stored into the other half of local memory after: the
// loads are in flight during the arithmetic, and one barrier a tile is enough.
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
#ifndef USE_LDG
#define USE_LDG 1  // read-only loads of A and B: 0 1
#endif
#ifndef USE_SHUFFLE
#define USE_SHUFFLE 0  // pass the fragment of B by shuffles: 0 1
#endif

#include "dialect.h"
#include "update.h"
#include "ladder/wide_tile.h"

// Reads this work-item's share of a tile of TSK x `size` vectors, which begins at `from`. `ld` is from one k
// to the next.
FUNCTION void fetch(floatX* share, const __global floatX* from, const int ld, const int size, const int tid) {
#pragma unroll
  for (int l = 0; l < TSK * size / WORK_ITEMS; ++l) {
    const int id = l * WORK_ITEMS + tid;
    share[l] = READ_ONLY(WIDTH, &from[id / size * ld + id % size]);
  }
}

// Puts it into local memory.
FUNCTION void put(LOCAL_PTR floatX* to, const floatX* share, const int size, const int tid) {
#pragma unroll
  for (int l = 0; l < TSK * size / WORK_ITEMS; ++l) {
    to[l * WORK_ITEMS + tid] = share[l];
  }
}

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
double_buffer(const int M, const int N, const int K, const float alpha, const __global floatX* A,
              const __global floatX* B, const float beta, __global floatX* C) {
  const int tidm = get_local_id(0);
  const int tidn = get_local_id(1);
  const int tid = tidn * RTSM + tidm;
  const int offset_m = TSMX * get_group_id(0);
  const int offset_n = TSNX * get_group_id(1);
  __local floatX Asub[2][TSK * TSMX];  // [buffer][k][m]
  __local floatX Bsub[2][TSK * TSNX];  // [buffer][k][n]
  floatX a_next[LPTA];
  floatX b_next[LPTB];
  floatX acc[WPTN * WPTMX];
  set_to_zero(acc);

  fetch(a_next, A + offset_m, M / WIDTH, TSMX, tid);
  fetch(b_next, B + offset_n, N / WIDTH, TSNX, tid);
  put(Asub[0], a_next, TSMX, tid);
  put(Bsub[0], b_next, TSNX, tid);
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int tile = 0; tile < K; tile += TSK) {
    const int current = tile / TSK % 2;
    const int more = tile + TSK < K;
    if (more) {
      fetch(a_next, A + (tile + TSK) * (M / WIDTH) + offset_m, M / WIDTH, TSMX, tid);
      fetch(b_next, B + (tile + TSK) * (N / WIDTH) + offset_n, N / WIDTH, TSNX, tid);
    }
    multiply(acc, Asub[current], Bsub[current], tidm, tidn);
    if (more) {
      put(Asub[1 - current], a_next, TSMX, tid);
      put(Bsub[1 - current], b_next, TSNX, tid);
    }
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
