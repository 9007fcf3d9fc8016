// The pipelined kernel: D <- alpha op(A) op(B) + beta C, large or small, in tiles sized to the problem.
//
//   global memory         local memory: STAGES of each      registers                        global memory
//
//   op(A)  TSM x TSK  --> tiles of A --+
//                     copy             +--> fragments  -->  WPTM x WPTN sums per work-item --> D  TSM x TSN
//   op(B)  TSK x TSN  --> tiles of B --+    of one k
//
//   config.h     what can be chosen
//   place.h      who computes what of D
//   copy.h       who copies what of A and B, and how it lies in local memory
//   fragments.h  local memory to registers
//   mainloop.h   the loop over k
//   epilogue.h   the sums to D
//
// K may be split: work-groups numbered g in the third dimension take k from g * split_length on, and write
// g * split_stride after D; or those of a cluster add up what they have, and each writes a share of the tile.
// Work-groups in the first dimension have a tile of D each; those in the second walk over the batch.
//
// op(A) is M x K, op(B) is K x N, C and D are M x N, all column-major. Offsets, strides and leading
// dimensions in elements. M, N and K are positive; K is below 2^30.
//
// device: starts_early

#include "gemm/tiled/config.h"
#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/cluster.h"
#include "gemm/result.h"
#include "update.h"
#include "gemm/tiled/place.h"
#include "gemm/tiled/copy.h"
#include "gemm/tiled/fragments.h"
#include "gemm/tiled/mainloop.h"
#include "gemm/tiled/epilogue.h"
#include "gemm/tiled/operands.h"

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
pipelined(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
          const __global float* B, const __global long* b_table, const __global float* C,
          const __global long* c_table, __global float* D, const __global long* d_table) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(GemmArguments);
  __local float tiles[STAGES * STAGE] __attribute__((aligned(16)));
  Place place;
  find_place(&place, (int)get_local_id(0));
  const long first_k = (long)get_group_id(2) * p.split_length;
  const int depth = (int)min(p.split_length, p.K - first_k);
  Tile tile;
  find_tile(&tile, (uint)get_group_id(0), p.M, p.N, (uint)p.group_m);
  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    recompute(&place);
    Operand a;
    Operand b;
    begin_operands(&a, &b, &p, A, a_table, B, b_table, member, tile, first_k, tiles, place);
    float acc[WPTN][WPTM];
#pragma unroll
    for (int row = 0; row < WPTN; ++row) {
      set_to_zero(acc[row], WPTM);
    }

    prologue(&a, &b, depth);
    mainloop(acc, tiles, &a, &b, depth, place);

    Result result;
    find_result(&result, &p, C, LISTED(c_table), D, LISTED(d_table), member);
    epilogue(result, tile, acc, tiles, place, (int)p.cluster);
  }
}
