// A grouped product: D <- alpha op(A) op(B) + beta C, where consecutive columns of op(B), C and D are a group
// that has an A of its own. A work-group has a tile of one group's columns, found by group_tiles.cl; the rest
// is as in the pipelined kernel (pipelined.cl), and so are the tunables.
//
// op(A) is M x K for each group, op(B) is K x N, C and D are M x N, all column-major. Offsets, strides and
// leading dimensions in elements. K is below 2^30.
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
grouped(ARGUMENTS(GroupedArguments), const __global float* A, const __global float* B,
        const __global float* C, __global float* D, const __global int* tiles_at) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(GroupedArguments);
  const GemmArguments* product = &p.product;
  __local float tiles[STAGES * STAGE] __attribute__((aligned(16)));
  Tile tile;
  find_tile(&tile, (uint)get_group_id(0), product->M, product->N, (uint)product->group_m);
  const __global GroupTile* part = group_tiles_at(tiles_at, p.tiles_offset) + tile.n.first / TSN;
  tile.n.first = part->first;
  tile.n.end = part->end;
  if (tile.n.first >= tile.n.end) {
    return;
  }
  Place place;
  find_place(&place, (int)get_local_id(0));
  Operand a;
  Operand b;
  begin_operands(&a, &b, product, A, 0, B, 0, part->group, tile, 0, tiles, place);
  float acc[WPTN][WPTM];
#pragma unroll
  for (int row = 0; row < WPTN; ++row) {
    set_to_zero(acc[row], WPTM);
  }

  prologue(&a, &b, (int)product->K);
  mainloop(acc, tiles, &a, &b, (int)product->K, place);

  Result result;
  find_result(&result, product, C, 0, D, 0, 0);
  epilogue(result, tile, acc, tiles, place, 1);
}
