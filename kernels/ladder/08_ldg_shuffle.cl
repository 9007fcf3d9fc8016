// Rung 8: the operations that compute capability 3.5 brought, each behind its own switch.
//
// USE_LDG reads A and B through the read-only path: it spared Kepler's small L1 cache, and tells the compiler
// that nobody writes them. USE_SHUFFLE replaces the WPTN loads of B from local memory: the RTSM work-items
// that need the same WPTN values load one each and pass them around by shuffles, to free the local memory's
// bandwidth for A.
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

#define floatX FLOAT(WIDTH)
#define vstoreX VSTORE(WIDTH)
#define RTSM (TSM / WPTM)
#define RTSN (TSN / WPTN)
#define WORK_ITEMS (RTSM * RTSN)
#define TSMX (TSM / WIDTH)
#define TSNX (TSN / WIDTH)
#define WPTMX (WPTM / WIDTH)
#define WPTNX (WPTN / WIDTH)
#define LPTA (TSK * TSMX / WORK_ITEMS)
#define LPTB (TSK * TSNX / WORK_ITEMS)

__kernel __attribute__((reqd_work_group_size(RTSM, RTSN, 1))) void
ldg_shuffle(const int M, const int N, const int K, const float alpha, const __global floatX* A,
     const __global floatX* B, const float beta, __global floatX* C) {
  const int tidm = get_local_id(0);
  const int tidn = get_local_id(1);
  const int tid = tidn * RTSM + tidm;
  const int offset_m = TSMX * get_group_id(0);
  const int offset_n = TSNX * get_group_id(1);
  __local floatX Asub[TSK][TSMX];  // [k][m]
  __local floatX Bsub[TSK][TSNX];  // [k][n]
#if USE_SHUFFLE
  // The RTSM work-items of one tidn are neighbours in a sub-group; each loads one of the values that all of
  // them need.
  const int first_lane = SUB_GROUP_LANE() - tidm;
  const int own = tidm % WPTN;
  const int own_n = (tidn + (own / WIDTH) * RTSN) * WIDTH + own % WIDTH;
#endif

  floatX acc[WPTN][WPTMX];
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
    for (int wm = 0; wm < WPTMX; ++wm) {
      acc[wn][wm] = (floatX)(0.0f);
    }
  }

  for (int tile = 0; tile < K; tile += TSK) {
#pragma unroll
    for (int l = 0; l < LPTA; ++l) {
      const int id = l * WORK_ITEMS + tid;
      Asub[id / TSMX][id % TSMX] =
          READ_ONLY(WIDTH, &A[(tile + id / TSMX) * (M / WIDTH) + offset_m + id % TSMX]);
    }
#pragma unroll
    for (int l = 0; l < LPTB; ++l) {
      const int id = l * WORK_ITEMS + tid;
      Bsub[id / TSNX][id % TSNX] =
          READ_ONLY(WIDTH, &B[(tile + id / TSNX) * (N / WIDTH) + offset_n + id % TSNX]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 8
    for (int k = 0; k < TSK; ++k) {
      floatX a[WPTMX];
      float b[WPTN];
#pragma unroll
      for (int wm = 0; wm < WPTMX; ++wm) {
        a[wm] = Asub[k][tidm + wm * RTSM];
      }
#if USE_SHUFFLE
      const float shared_b = ((LOCAL_PTR float*)Bsub[k])[own_n];
#pragma unroll
      for (int wn = 0; wn < WPTN; ++wn) {
        b[wn] = SHUFFLE(shared_b, first_lane + wn);
      }
#else
#pragma unroll
      for (int wn = 0; wn < WPTNX; ++wn) {
        vstoreX(Bsub[k][tidn + wn * RTSN], wn, b);
      }
#endif
#pragma unroll
      for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
        for (int wm = 0; wm < WPTMX; ++wm) {
          acc[wn][wm] = fma(a[wm], (floatX)(b[wn]), acc[wn][wm]);
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
    const int col = (offset_n + tidn + (wn / WIDTH) * RTSN) * WIDTH + wn % WIDTH;
#pragma unroll
    for (int wm = 0; wm < WPTMX; ++wm) {
      UPDATE(floatX, C[col * (M / WIDTH) + offset_m + tidm + wm * RTSM], alpha, acc[wn][wm], beta);
    }
  }
}
