// Rung 10: incomplete tiles, and separate tile sizes for A and B.
//
// M, N and K are any sizes. A and B come padded to multiples of TSM, TSN and TSK, so the loop stays that of
// rung 9; C is the caller's own, so each element is stored only if it exists. With TSM and TSN apart, the
// tiles of A and B need different numbers of loads (LPTA, LPTB), and sizes such as 160 x 160 with 10 x 10 per
// work-item fit as well.
//
// A is M x K and B is N x K, padded; C is M x N. Offsets in M and N are counted in vectors below.

#ifndef TSM
#define TSM 128  // work-group tile in M: 16 32 64 96 128 160
#endif
#ifndef TSN
#define TSN 128  // work-group tile in N: 16 32 64 96 128 160
#endif
#ifndef TSK
#define TSK 16  // tile in K: 8 16 32
#endif
#ifndef WPTM
#define WPTM 8  // rows of C per work-item: 1 2 4 8 10
#endif
#ifndef WPTN
#define WPTN 8  // columns of C per work-item: 1 2 4 8 10
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

#define ROUND_UP(x, multiple) (((x) + (multiple)-1) / (multiple) * (multiple))

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

// Updates what C has of a vector that begins at (row, col).
FUNCTION void update_inside(__global float* C, const floatX sum, const float alpha, const float beta,
                            const int row, const int col, const int M, const int N) {
  float result[WIDTH];
  vstoreX(sum, 0, result);
#pragma unroll
  for (int w = 0; w < WIDTH; ++w) {
    if (row + w < M && col < N) {
      UPDATE(float, C[col * M + row + w], alpha, result[w], beta);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
incomplete(const int M, const int N, const int K, const float alpha, const __global floatX* A,
           const __global floatX* B, const float beta, __global float* C) {
  const int tidm = get_local_id(0);
  const int tidn = get_local_id(1);
  const int tid = tidn * RTSM + tidm;
  const int offset_m = TSMX * get_group_id(0);
  const int offset_n = TSNX * get_group_id(1);
  const int padded_m = ROUND_UP(M, TSM) / WIDTH;
  const int padded_n = ROUND_UP(N, TSN) / WIDTH;
  __local floatX Asub[2][TSK * TSMX];  // [buffer][k][m]
  __local floatX Bsub[2][TSK * TSNX];  // [buffer][k][n]
  floatX a_next[LPTA];
  floatX b_next[LPTB];
  floatX acc[WPTN * WPTMX];
  set_to_zero(acc);

  fetch(a_next, A + offset_m, padded_m, TSMX, tid);
  fetch(b_next, B + offset_n, padded_n, TSNX, tid);
  put(Asub[0], a_next, TSMX, tid);
  put(Bsub[0], b_next, TSNX, tid);
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int tile = 0; tile < K; tile += TSK) {
    const int current = tile / TSK % 2;
    const int more = tile + TSK < K;
    if (more) {
      fetch(a_next, A + (tile + TSK) * padded_m + offset_m, padded_m, TSMX, tid);
      fetch(b_next, B + (tile + TSK) * padded_n + offset_n, padded_n, TSNX, tid);
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
      const int row = (offset_m + VECTOR(tidm, wm)) * WIDTH;
      update_inside(C, acc[wn * WPTMX + wm], alpha, beta, row, col, M, N);
    }
  }
}
