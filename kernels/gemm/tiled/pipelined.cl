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
// Work-groups in the first dimension have a tile of D each; those in the second walk over the batch. With
// PATCH, those in the first walk over the tiles.
//
// op(A) is M x K, op(B) is K x N, C and D are M x N, all column-major. Offsets, strides and leading dimensions in
// elements. M, N and K are positive; K is below 2^30.
//
// device: starts_early

#include "gemm/tiled/config.h"
#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/cluster.h"
#include "update.h"
#include "gemm/tiled/place.h"
#include "gemm/tiled/copy.h"
#include "gemm/tiled/fragments.h"
#if PATCH
#include "gemm/tensor/patch.h"
#else
#include "gemm/tiled/no_promotion.h"
#endif
#include "gemm/tiled/mainloop.h"
#include "gemm/tiled/epilogue.h"

// Vectors are read of strided batches only.
#define LISTED(table) (V == 4 ? 0 : (table))

#if PATCH
#define TILED_ARGUMENTS PatchArguments
#define PRODUCT p.product
#else
#define TILED_ARGUMENTS GemmArguments
#define PRODUCT p
#endif

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
pipelined(ARGUMENTS(TILED_ARGUMENTS), const __global float* A, const __global long* a_table,
          const __global float* B, const __global long* b_table, const __global float* C,
          const __global long* c_table, __global float* D, const __global long* d_table
#if PATCH
          , const __global float* a_scales, const __global float* b_scales
#endif
) {
  AWAIT_STEP_BEFORE();
  TAKE_ARGUMENTS(TILED_ARGUMENTS);
  __local float tiles[STAGES * STAGE] __attribute__((aligned(16)));
  Place place;
  find_place(&place, (int)get_local_id(0));
#if PATCH
  const Scales a_all = {a_scales + p.a_scales.offset, p.a_scales.panels, p.a_scales.members, p.blocks};
  const Scales b_all = {b_scales + p.b_scales.offset, p.b_scales.panels, p.b_scales.members, p.blocks};
  if (!is_anything_left_out(&a_all, &b_all, (LOCAL_PTR int*)tiles, place.item)) {
    return;
  }
#endif
  const long first_k = (long)get_group_id(2) * PRODUCT.split_length;
  const int depth = (int)min(PRODUCT.split_length, PRODUCT.K - first_k);

  uint number = (uint)get_group_id(0);
  do {
    Tile tile;
    find_tile(&tile, number, PRODUCT.M, PRODUCT.N, (uint)PRODUCT.group_m);
    for (long member = get_group_id(1); member < PRODUCT.batch; member += get_num_groups(1)) {
      recompute(&place);
#if PATCH
      if (!is_tile_left_out(&a_all, &b_all, &tile, p.a_panels_in_tile, member, (LOCAL_PTR int*)tiles,
                            place.item)) {
        continue;
      }
#endif
      const __global float* a_member = MEMBER(A, PRODUCT.a, LISTED(a_table), member);
      const __global float* b_member = MEMBER(B, PRODUCT.b, LISTED(b_table), member);
      float acc[WPTN][WPTM];
      Operand a;
      Operand b;
      begin_copies(&a, a_member + first_k * (TRANS_A ? 1 : PRODUCT.a.ld), PRODUCT.a.ld, tile.m, tiles, place.item, -0.0f,
                   TSM, TRANS_A);
      begin_copies(&b, b_member + first_k * (TRANS_B ? PRODUCT.b.ld : 1), PRODUCT.b.ld, tile.n, tiles + TSK * TSM,
                   place.item, 0.0f, TSN, !TRANS_B);
#pragma unroll
      for (int row = 0; row < WPTN; ++row) {
        set_to_zero(acc[row], WPTM);
      }

      prologue(&a, &b, depth);
      mainloop(acc, tiles, &a, &b, depth, place);

      const Result result = {
          MEMBER(D, PRODUCT.d, LISTED(d_table), member) + (long)get_group_id(2) * PRODUCT.split_stride,
          PRODUCT.d.ld,
          MEMBER(C, PRODUCT.c, LISTED(c_table), member),
          PRODUCT.c.ld,
          PRODUCT.alpha,
          PRODUCT.beta,
          tile};
      epilogue(result, acc, tiles, place, PRODUCT.vectors != 0 && (ulong)result.c % 16 == 0,
               (int)PRODUCT.cluster);
    }
    number += (uint)get_num_groups(0);
  } while (PATCH && number < tiles_of(PRODUCT.M, TSM) * tiles_of(PRODUCT.N, TSN));
}
