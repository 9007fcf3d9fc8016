// Rung 15: split-K.
//
// As rung 14, but K is cut into SLICES, and a work-group computes its tile's partial sums of one slice. So a
// product with few tiles of C and a long K has work for all multiprocessors. A kernel after this one
// (kernels/gemm/reduce.cl) adds up the partial sums, in the order of the slices:
//
//               K
//        +----+----+----+----+
//    A   | s0 | s1 | s2 | s3 |      P0 + P1 + P2 + P3 -> C
//        +----+----+----+----+
//
// The sums are the same in every run, but not those of one chain in ascending k: the bits differ from other
// rungs' where SLICES is more than 1.
//
// A is M x K, B is N x K; M, N and K are multiples of TSM, TSN and TSK. C has SLICES results, one after the
// other.

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
#ifndef SLICES
#define SLICES 4  // of K: 1 2 4 8 16 32
#endif

#include "dialect.h"
#include "update.h"
#include "ladder/beyond/warp_tile.h"
#include "ladder/beyond/stages.h"

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void
split_k(const int M, const int N, const int K, const float alpha, const __global float* A,
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
  const int slice = get_group_id(2);
  const int length = (K / TSK + SLICES - 1) / SLICES * TSK;
  const int begin = min(slice * length, K);
  const int end = min(begin + length, K);
  float4 acc[WPTN * QUADS_M];
  set_to_zero(acc);
  multiply_range(acc, stages, A + offset_m, M, B + offset_n, N, begin, end, item);
  update_tile(C + (size_t)slice * M * N + offset_n * M + offset_m, M, alpha, beta, acc, item);
}
