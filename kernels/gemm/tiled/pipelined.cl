// The pipelined kernel: C <- alpha op(A) op(B) + beta C, large or small, in tiles sized to the problem.
//
//   global memory         local memory: STAGES of each      registers                        global memory
//
//   op(A)  TSM x TSK  --> tiles of A --+
//                     copy             +--> fragments  -->  WPTM x WPTN sums per work-item --> C  TSM x TSN
//   op(B)  TSK x TSN  --> tiles of B --+    of one k
//
//   config.h     what can be chosen
//   place.h      who computes what of C
//   copy.h       who copies what of A and B, and how it lies in local memory
//   fragments.h  local memory to registers
//   mainloop.h   the loop over k
//   epilogue.h   the sums to C
//
// K may be split: work-groups numbered g in the third dimension take k from g * k_chunk on, and write g *
// chunk_stride behind C; or those of a cluster add up what they have, and each writes a share of the tile.
// Work-groups in the first dimension have a tile of C each; those in the second walk over the batch. With
// PATCH, those in the first walk over the tiles.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major. Offsets, strides and leading dimensions in
// elements. M, N and K are positive; K is below 2^30.

#include "gemm/tiled/config.h"
#include "dialect.h"
#include "gemm/batch.h"
#include "gemm/cluster.h"
#include "gemm/set_to_zero.h"
#include "update.h"
#include "gemm/tiled/place.h"
#include "gemm/tiled/copy.h"
#include "gemm/tiled/fragments.h"
#include "gemm/tiled/bias.h"
#include "gemm/tensor/arguments.h"
#if PATCH
#include "gemm/tensor/patch.h"
#else
#include "gemm/tiled/no_promotion.h"
#endif
#include "gemm/tiled/mainloop.h"
#include "gemm/tiled/epilogue.h"

// Vectors are read of strided batches only.
#define LISTED(table) (V == 4 ? 0 : (table))

// A bias may begin anywhere, so that it need not be in vectors where C is.
#if BIAS
#define VECTORS_OF(c_vectors, c) ((c_vectors) != 0 && (ulong)(c).bias % 16 == 0)
#else
#define VECTORS_OF(c_vectors, c) (c_vectors)
#endif

// What the kernel is given behind its own arguments.
#if PATCH
#define MORE(POINTER, LONG) PATCHED(POINTER, LONG)
#elif BIAS
#define MORE(POINTER, LONG) BIASED(POINTER, LONG)
#else
#define MORE(POINTER, LONG)
#endif
#define PRODUCT_IN_TILES(POINTER, LONG, SINGLE) \
  PRODUCT_IN_SLICES(POINTER, LONG, SINGLE) TILE_ORDER(LONG) MORE(POINTER, LONG)
NUMBERS_OF(PRODUCT_IN_TILES);

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
pipelined(PARAMETERS(PRODUCT_IN_TILES)) {
  AWAIT_STEP_BEFORE();
  NUMBERS(PRODUCT_IN_TILES);
  __local float tiles[STAGES * STAGE] __attribute__((aligned(16)));
  Place place;
  find_place(&place, (int)get_local_id(0));
#if PATCH
  const Scales a_all = {a_scales + p.a_scales_offset, p.a_panels, p.a_split_members, p.blocks};
  const Scales b_all = {b_scales + p.b_scales_offset, p.b_panels, p.b_split_members, p.blocks};
  if (!is_anything_left_out(&a_all, &b_all, (LOCAL_PTR int*)tiles, place.item)) {
    return;
  }
#endif
  const long first_k = (long)get_group_id(2) * p.k_chunk;
  const int depth = (int)min(p.k_chunk, p.K - first_k);

  uint number = (uint)get_group_id(0);
  do {
    Tile tile;
    find_tile(&tile, number, p.M, p.N, (uint)p.group_m);
    for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
      recompute(&place);
#if PATCH
      if (!is_tile_left_out(&a_all, &b_all, &tile, p.a_panels_in_tile, member, (LOCAL_PTR int*)tiles,
                            place.item)) {
        continue;
      }
#endif
      const __global float* a_member = MEMBER(A, p.a_offset, p.a_stride, LISTED(a_table), member);
      const __global float* b_member = MEMBER(B, p.b_offset, p.b_stride, LISTED(b_table), member);
      float acc[WPTN][WPTM];
      Operand a;
      Operand b;
      begin_copies(&a, a_member + first_k * (TRANS_A ? 1 : p.lda), p.lda, tile.m, tiles, place.item, -0.0f,
                   TSM, TRANS_A);
      begin_copies(&b, b_member + first_k * (TRANS_B ? p.ldb : 1), p.ldb, tile.n, tiles + TSK * TSM,
                   place.item, 0.0f, TSN, !TRANS_B);
#pragma unroll
      for (int row = 0; row < WPTN; ++row) {
        set_to_zero(acc[row], WPTM);
      }

      prologue(&a, &b, depth);
      mainloop(acc, tiles, &a, &b, depth, place);

      __global float* c_member = MEMBER(C, p.c_offset, p.c_stride, LISTED(c_table), member);
      const Result c = {c_member + (long)get_group_id(2) * p.chunk_stride,
                        p.ldc, p.alpha, p.beta, tile,
#if BIAS
                        bias + p.bias_offset + member * p.bias_stride
#endif
      };
      epilogue(c, acc, tiles, place, VECTORS_OF(p.c_vectors, c), (int)p.cluster);
    }
    number += (uint)get_num_groups(0);
  } while (PATCH && number < tiles_of(p.M, TSM) * tiles_of(p.N, TSN));
}
