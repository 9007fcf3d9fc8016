// Rung 12: warp tiles.
//
// As rung 7, but where work-items stand is chosen for the 32 that run together: they have one block of C (see
// warp_tile.h). In rung 7, 32 neighbours have two columns of 16 work-items. For one k they read 128 values of
// A and 16 of B, here 64 and 32.
//
// A is M x K, B is N x K; M, N and K are multiples of TSM, TSN and TSK.

#ifndef TSM
#define TSM 128  // work-group tile in M: 16 32 64 128
#endif
#ifndef TSN
#define TSN 128  // work-group tile in N: 32 64 128
#endif
#ifndef TSK
#define TSK 16  // tile in K: 8 16 32
#endif
#ifndef WPTM
#define WPTM 8  // rows of C per work-item: 4 8
#endif
#ifndef WPTN
#define WPTN 8  // columns of C per work-item: 4 8
#endif
#ifndef LANES_M
#define LANES_M 8  // of 32 neighbouring work-items, how many stand along M: 4 8 16
#endif

#include "dialect.h"
#include "update.h"
#include "ladder/beyond/warp_tile.h"

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void
warp_tiles(const int M, const int N, const int K, const float alpha, const __global float* A,
           const __global float* B, const float beta, __global float* C) {
  __local float Asub[TSK * TSM] __attribute__((aligned(16)));
  __local float Bsub[TSK * TSN] __attribute__((aligned(16)));
  const int item = get_local_id(0);
  const int offset_m = TSM * get_group_id(0);
  const int offset_n = TSN * get_group_id(1);
  float4 acc[WPTN * QUADS_M];
  set_to_zero(acc);

  for (int tile = 0; tile < K; tile += TSK) {
    fetch(Asub, A + tile * M + offset_m, M, TSM, item);
    fetch(Bsub, B + tile * N + offset_n, N, TSN, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply(acc, Asub, Bsub, item);
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  update_tile(C + offset_n * M + offset_m, M, alpha, beta, acc, item);
}
