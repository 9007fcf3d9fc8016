// Rung 14: an order of tiles for the L2 cache.
//
// As rung 13, but work-groups that run at the same time compute a block of C that is more square. They start
// in the order of their numbers. In rung 13 those of a column of tiles come first, and read all of A and a
// little of B. Here GROUP_M tiles along M come before the next along N, and what work-groups at work read
// together stays in the cache:
//
//      rung 13            GROUP_M 2
//    0  4  8 12           0  2  4  6
//    1  5  9 13           1  3  5  7
//    2  6 10 14           8 10 12 14
//    3  7 11 15           9 11 13 15
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
#ifndef GROUP_M
#define GROUP_M 8  // tiles along M before the next along N: 1 2 4 8 16 32
#endif

#include "dialect.h"
#include "update.h"
#include "ladder/beyond/warp_tile.h"
#include "ladder/beyond/stages.h"

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void
tile_order(const int M, const int N, const int K, const float alpha, const __global float* A,
           const __global float* B, const float beta, __global float* C) {
  __local float stages[STAGES * STAGE] __attribute__((aligned(16)));
  const int item = get_local_id(0);
  const int tiles_m = M / TSM;
  const int in_a_group = GROUP_M * (N / TSN);
  const int number = get_group_id(1) * tiles_m + get_group_id(0);
  const int first_m = number / in_a_group * GROUP_M;
  const int group_m = min(tiles_m - first_m, GROUP_M);
  const int offset_m = TSM * (first_m + number % in_a_group % group_m);
  const int offset_n = TSN * (number % in_a_group / group_m);
  float4 acc[WPTN * QUADS_M];
  set_to_zero(acc);
  multiply_range(acc, stages, A + offset_m, M, B + offset_n, N, 0, K, item);
  update_tile(C + offset_n * M + offset_m, M, alpha, beta, acc, item);
}
