// Fix-up of the tensor kernels: the tiles of D that they leave out, because split terms cannot hold the
// values of a block of A or B (see terms.h), in FP32. The phases are those of the tiled kernel
// (tiled/pipelined.cl), and the tunables, too, which have one value each.
//
// At the level batch_invariant rows have scales, and of such a tile those elements alone are written whose
// row of A or of B has none that holds it.
//
// Mostly there is nothing to do. So there are few work-groups: each looks through all scales first, and walks
// over the tiles of D in the first dimension and over the batch in the second.
//
// op(A) is M x K, op(B) is K x N, C and D are M x N, all column-major. Offsets, strides and leading
// dimensions in elements.
//
// device: starts_early

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
#endif
#ifndef V
#define V 1  // values of A and B read at once; 4 needs alignment to as many, and whole vectors: 1 4
#endif
#ifndef RESIDENT
#define RESIDENT 1  // work-groups that should fit on a multiprocessor, see dialect.h: 1
#endif
#ifndef TSM
#define TSM 128  // rows of a tile of D, a panel of A: 128
#endif
#ifndef TSN
#define TSN 128  // columns of a tile of D, a panel of B: 128
#endif
#ifndef TSK
#define TSK 16  // depth of a tile along k: 16
#endif
#ifndef WPTM
#define WPTM 8  // rows of D per work-item: 8
#endif
#ifndef WPTN
#define WPTN 8  // columns of D per work-item: 8
#endif
#ifndef STAGES
#define STAGES 3  // tiles along k in local memory, of A and of B: 3
#endif
#define ASYNC 1
#define BYTES 1
#define K_MAJOR 0
#define RECOMPUTE 0
enum { LANES_M = 8, LANE_ORDER = 1, FMA_ORDER = 2, UNROLL_K = 0 };

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/element.h"
#include "gemm/cluster.h"
#include "gemm/result.h"
#include "update.h"
#include "gemm/tiled/place.h"
#include "gemm/tiled/copy.h"
#include "gemm/tiled/fragments.h"
#include "gemm/tiled/mainloop.h"
#include "gemm/tiled/epilogue.h"
#include "gemm/tiled/operands.h"

// --- Which tiles -------------------------------------------------------------------------------------------

// The scales of an operand's blocks.
typedef struct {
  const __global float* first;
  long panels;   // of a member
  long members;  // that are split: one where all of the batch have the same operand
  long blocks;   // of a panel; rows, where they have scales
} Scales;

FUNCTION const __global float*
scales_of(const Scales* all, const long member, const long panel) {
  return all->first + (member % all->members * all->panels + panel) * all->blocks;
}

// A NaN tells of a block that split terms cannot hold: is there one in a work-item's share of the scales?
FUNCTION bool
finds_nan(const __global float* scales, const int count, const int item) {
  bool found = false;
#pragma unroll 4
  for (int i = item; i < count; i += WORK_ITEMS) {
    const float scale = scales[i];
    found |= scale != scale;
  }
  return found;
}

// Is any scale of A or B NaN? All work-items ask together; `found` is local memory that
// nobody uses before or after.
FUNCTION bool
is_inexact(const __global float* a_scales, const int a_count, const __global float* b_scales,
           const int b_count, LOCAL_PTR int* found, const int item) {
  const bool a_found = finds_nan(a_scales, a_count, item);
  const bool b_found = finds_nan(b_scales, b_count, item);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    *found = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (a_found || b_found) {
    *found = 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool inexact = *found != 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  return inexact;
}

FUNCTION bool
is_anything_inexact(const Scales* a, const Scales* b, LOCAL_PTR int* found, const int item) {
  return is_inexact(a->first, (int)(a->members * a->panels * a->blocks), b->first,
                    (int)(b->members * b->panels * b->blocks), found, item);
}

// Has the tensor kernel left a tile out? Its tiles are panels_in_tile panels of A by one of B.
FUNCTION bool
is_tile_inexact(const Scales* a, const Scales* b, const Tile* tile, const long b_panel,
                const long panels_in_tile, const long member, LOCAL_PTR int* found, const int item) {
  const long a_panel = tile->m.first / (PANEL * panels_in_tile) * panels_in_tile;
  return is_inexact(scales_of(a, member, a_panel), (int)(panels_in_tile * a->blocks),
                    scales_of(b, member, b_panel), (int)b->blocks, found, item);
}

// --- Operands of 16 bits -----------------------------------------------------------------------------------

// Copies what a tile needs of one to FP32: all k of some rows of m or n, which are neighbours in X, or k are.
// Other work-groups may write the same. A work-item has several elements on their way at once.
FUNCTION void
widen(__global float* Y, const MatrixLayout* y, const __global float* X, const __global long* x_table,
      const NarrowOperand* narrow, const long member, const Span rows, const long depth, const bool along_k,
      const int item) {
  enum { AT_ONCE = 8 };
  const int type = (int)narrow->type;
  const long count = LEAST(rows.end - rows.first, PANEL);
  const long length = along_k ? depth : count;  // of a line of neighbours
  const long size = count * depth;
  const long x_first =
      MEMBER_ELEMENT(X, narrow->x, x_table, member, type) + rows.first * (along_k ? narrow->x.ld : 1);
  const long y_first = y->offset + member * y->stride + rows.first * (along_k ? y->ld : 1);
#pragma unroll 1
  for (long first = item; first < size; first += (long)AT_ONCE * WORK_ITEMS) {
    float values[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      const long element = LEAST(first + i * WORK_ITEMS, size - 1);
      const long line = column_of_element(element, length, size);
      values[i] = load_element(X, x_first + line * narrow->x.ld + (element - line * length), type);
    }
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      const long element = LEAST(first + i * WORK_ITEMS, size - 1);
      const long line = column_of_element(element, length, size);
      Y[y_first + line * y->ld + (element - line * length)] = values[i];
    }
  }
}

// --- Their sums --------------------------------------------------------------------------------------------

// One chain of multiply-adds over all of k would err by more than the sums of the tensor kernel, and than the
// bound where k is long. So a chain ends after CHAIN tiles along k and is added to the sums of a block, in
// registers, and after CHAINS_OF_BLOCK chains those are added to the sums of all. These are volatile, so that
// they are in memory, and leave registers to the products.
enum { CHAIN = 128 / TSK, CHAINS_OF_BLOCK = 16, SUMS = WPTM * WPTN };

typedef struct {
  float block[SUMS];
  volatile float all[SUMS];
  int tiles;   // of the chain
  int chains;  // of the block
} Promotion;

FUNCTION void
begin_promotion(Promotion* promotion) {
  promotion->tiles = 0;
  promotion->chains = 0;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    promotion->block[i] = 0.0f;
    promotion->all[i] = 0.0f;
  }
}

FUNCTION void
end_block(Promotion* promotion) {
  promotion->chains = 0;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    promotion->all[i] = promotion->all[i] + promotion->block[i];
    promotion->block[i] = 0.0f;
  }
}

FUNCTION void
end_chain(float acc[WPTN][WPTM], Promotion* promotion) {
  promotion->tiles = 0;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    promotion->block[i] = promotion->block[i] + acc[i / WPTM][i % WPTM];
    acc[i / WPTM][i % WPTM] = 0.0f;
  }
  if (++promotion->chains == CHAINS_OF_BLOCK) {
    end_block(promotion);
  }
}

// After each tile along k.
FUNCTION void
promote(float acc[WPTN][WPTM], Promotion* promotion) {
  if (++promotion->tiles == CHAIN) {
    end_chain(acc, promotion);
  }
}

FUNCTION void
end_promotion(float acc[WPTN][WPTM], const Promotion* promotion) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    acc[i / WPTM][i % WPTM] += promotion->block[i];
    acc[i / WPTM][i % WPTM] += promotion->all[i];
  }
}

// As mainloop() of the tiled kernel, with a promotion after each tile along k.
FUNCTION void
promoting_mainloop(float acc[WPTN][WPTM], const LOCAL_PTR float* tiles, Operand* a, Operand* b,
                   const int depth, const Place place) {
  Fragments f;
  begin_fragments(&f, place);
  load_fragments(&f, tiles, 0);
  Promotion promotion;
  begin_promotion(&promotion);
  int now = 0;
  int ahead = LAST_STAGE;
  for (int left = depth - (STAGES - 1) * TSK; left > -(STAGES - 1) * TSK; left -= TSK) {
    const int next = next_stage(now);
    multiply_tile(acc, &f, tiles, a, b, now, next, ahead, left, left - TSK, left > -(STAGES - 2) * TSK);
    promote(acc, &promotion);
    now = next;
    ahead = next_stage(ahead);
  }
  end_promotion(acc, &promotion);
}

// Writes those elements of a tile whose row of A or of B has the scale NaN: the tile's rows have a_scales,
// its columns b_scales.
FUNCTION void
write_inexact(const Result* result, const Tile* tile, float acc[WPTN][WPTM], const Place* place,
              const __global float* a_scales, const __global float* b_scales) {
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
    const int col = place->n + next_column(wn);
#pragma unroll
    for (int wm = 0; wm < WPTM; ++wm) {
      const int row = place->m + next_row(wm);
      if (tile->m.first + row < tile->m.end && tile->n.first + col < tile->n.end &&
          (a_scales[row] != a_scales[row] || b_scales[col] != b_scales[col])) {
        UPDATE_FROM(float, result->d[(tile->n.first + col) * result->ldd + tile->m.first + row],
                    result->alpha, acc[wn][wm], result->beta,
                    result->c[(tile->n.first + col) * result->ldc + tile->m.first + row]);
      }
    }
  }
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
fixup(ARGUMENTS(FixupArguments), const __global float* A, const __global long* a_table,
      __global float* a_wide, const __global float* B, const __global long* b_table, __global float* b_wide,
      const __global float* C, const __global long* c_table, __global float* D, const __global long* d_table,
      const __global float* a_scales, const __global float* b_scales, const __global int* tiles_at) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(FixupArguments);
  const GemmArguments* product = &p.product;
  __local float tiles[STAGES * STAGE] __attribute__((aligned(16)));
  Place place;
  find_place(&place, (int)get_local_id(0));
  const Scales a_all = {a_scales + p.a_scales.offset, p.a_scales.panels, p.a_scales.members, p.blocks};
  const Scales b_all = {b_scales + p.b_scales.offset, p.b_scales.panels, p.b_scales.members, p.blocks};
  if (!is_anything_inexact(&a_all, &b_all, (LOCAL_PTR int*)tiles, place.item)) {
    return;
  }
  const __global GroupTile* groups = group_tiles_at(tiles_at, p.tiles_offset);
  const bool widens_a = p.a.type != FP32_ELEMENTS;
  const bool widens_b = p.b.type != FP32_ELEMENTS;
  const int count = (int)(tiles_of(product->M, TSM) * tiles_of(product->N, TSN));
  for (int number = (int)get_group_id(0); number < count; number += (int)get_num_groups(0)) {
    Tile tile;
    find_tile(&tile, (uint)number, product->M, product->N, (uint)product->group_m);
    const long b_panel = tile.n.first / PANEL;
    if (groups != 0) {
      tile.n.first = groups[b_panel].first;
      tile.n.end = groups[b_panel].end;
    }
    if (tile.n.first >= tile.n.end) {
      continue;
    }
    for (long i = get_group_id(1); i < product->batch; i += get_num_groups(1)) {
      const long member = groups == 0 ? i : groups[b_panel].group;
      if (!is_tile_inexact(&a_all, &b_all, &tile, b_panel, p.a_panels_in_tile, member, (LOCAL_PTR int*)tiles,
                           place.item)) {
        continue;
      }
      if (widens_a) {
        widen(a_wide, &product->a, A, a_table, &p.a, member, tile.m, product->K, TRANS_A, place.item);
      }
      if (widens_b) {
        widen(b_wide, &product->b, B, b_table, &p.b, member, tile.n, product->K, !TRANS_B, place.item);
      }
      barrier(CLK_GLOBAL_MEM_FENCE);
      Operand a;
      Operand b;
      begin_operands(&a, &b, product, widens_a ? a_wide : A, widens_a ? 0 : a_table, widens_b ? b_wide : B,
                     widens_b ? 0 : b_table, member, tile, 0, tiles, place);
      float acc[WPTN][WPTM];
#pragma unroll
      for (int row = 0; row < WPTN; ++row) {
        set_to_zero(acc[row], WPTM);
      }

      prologue(&a, &b, (int)product->K);
      promoting_mainloop(acc, tiles, &a, &b, (int)product->K, place);

      Result result;
      find_result(&result, product, C, LISTED(c_table), D, LISTED(d_table), member);
      if (p.by_rows) {
        write_inexact(&result, &tile, acc, &place, scales_of(&a_all, member, tile.m.first / PANEL),
                      scales_of(&b_all, member, b_panel));
      } else {
        epilogue(result, tile, acc, tiles, place, 1);
      }
    }
  }
}
