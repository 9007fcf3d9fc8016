// Rung 13: asynchronous copies in several stages.
//
// As rung 12, with STAGES tiles in local memory. While one is multiplied, the next are on their way, and
// they do not pass through registers (cp.async, since compute capability 8.0; elsewhere a load and a store).
// So prefetching costs local memory, and not the registers that it cost rung 9:
//
//   stage 0   copy ....  multiply ####   copy ....           multiply
//   stage 1   copy ....       copy ....  multiply ####   copy ....
//   stage 2        copy ....                  copy ....  multiply ####
//
// One barrier for each tile does both: all have copied the tile that is multiplied next, and all are done
// with the one that is overwritten next.
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
#ifndef STAGES
#define STAGES 3  // tiles in local memory at once: 2 3 4
#endif
#ifndef ASYNC
#define ASYNC 1  // copy to local memory past the registers, where the device can: 0 1 2
#endif

#include "dialect.h"
#include "update.h"
#include "ladder/beyond/warp_tile.h"
#include "ladder/beyond/stages.h"

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void
async_copy(const int M, const int N, const int K, const float alpha, const __global float* A,
           const __global float* B, const float beta, __global float* C) {
  __local float stages[STAGES * STAGE] __attribute__((aligned(16)));
  const int item = get_local_id(0);
  const int offset_m = TSM * get_group_id(0);
  const int offset_n = TSN * get_group_id(1);
  float4 acc[WPTN * QUADS_M];
  set_to_zero(acc);
  multiply_range(acc, stages, A + offset_m, M, B + offset_n, N, 0, K, item);
  update_tile(C + offset_n * M + offset_m, M, alpha, beta, acc, item);
}
