// FP32 accuracy on tensor cores of compute capability 8.0 and newer: D <- alpha A B + beta C from the terms
// that split.cl makes of A and B. tensor.cl does the same with what 9.0 alone has.
//
//   copies    of the tiles of a stage, TSK along k, every work-item begins a share STAGES - 1 stages ahead
//   products  a sub-group has WARP_M rows of C and WARP_N columns. It keeps a stage of A's terms in
//             registers, and goes over B's:
//
//              n 16 +--------+
//                   |        |  acc  = products of terms, on tensor cores
//              n 16 +--------+  sums += acc * scale, by FFMA (promotion)
//                   |        |
//                   +--------+
//                     WARP_M
//
// A tensor core cuts off what does not fit when it adds, so that its errors point one way and grow with k.
// Promotion ends that after TSK, and gives the sums the scale of their blocks.
//
// mma.sync takes n for its rows, so that a work-item holds neighbours along m, which are neighbours in C.
//
// A work-group has a split of a tile (see work.h): group_m tiles along M come before the next along N, so
// that those at work together share panels in the L2 cache. Slices write their sums to a workspace; the last
// of a tile adds them up in order.
//
// device: compute_capability 80, starts_early

#ifndef BF16X6
#define BF16X6 0  // terms are two FP16 or three BF16 numbers: 0 1
#endif
#ifndef NARROW_A
#define NARROW_A 0  // values of A have 16 bits, and are one term each: 0 1
#endif
#ifndef NARROW_B
#define NARROW_B 0  // values of B have 16 bits, and are one term each: 0 1
#endif
#ifndef TSM
#define TSM 128  // work-group tile in M: 64 128
#endif
#ifndef TSN
#define TSN 64  // work-group tile in N: 64 128
#endif
#ifndef TSK
#define TSK 64  // stage along k: 32 64
#endif
#ifndef STAGES
#define STAGES 2  // stages in local memory at once: 2 3 4
#endif
#ifndef WARP_N
#define WARP_N 64  // columns of C per sub-group: 32 64
#endif

#ifndef RESIDENT
#define RESIDENT 2  // work-groups that should fit on a multiprocessor, see dialect.h: 1 2 3
#endif
#define ASYNC 1
#include "dialect.h"
#include "tensor_cores.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "update.h"
#include "gemm/tensor/terms.h"

enum {
  WARP_M = 32,
  WARPS_M = TSM / WARP_M,
  WORK_ITEMS = WARPS_M * (TSN / WARP_N) * 32,
  BLOCKS_M = WARP_M / 8,  // of 16 x 8 elements of C, of a sub-group
  BLOCKS_N = WARP_N / 16,
  STEPS = TSK / 16,  // of k that one instruction multiplies
  SUMS_AT_ONCE = BLOCKS_M * 4,
  SPLITS_IN_CLUSTERS = 0,
  // A stage in local memory: terms of TSN rows of B, then of TSM rows of A.
  B_TERM_BYTES = TSN * ROW_BYTES,
  A_TERM_BYTES = TSM * ROW_BYTES,
  A_TERMS = NARROW_A ? 1 : TERMS,
  B_TERMS = NARROW_B ? 1 : TERMS,
  B_BYTES = B_TERMS * B_TERM_BYTES,
  STAGE_BYTES = B_BYTES + A_TERMS * A_TERM_BYTES,
  // For result.h: of a work-item.
  SUMS = BLOCKS_N * BLOCKS_M * 4,
  PAIRS = BLOCKS_M,
  WRITERS = WORK_ITEMS
};
FUNCTION void
writers_barrier() {
  barrier(CLK_LOCAL_MEM_FENCE);
}
FUNCTION int
block_row(const int item) {
  return item / 32 % WARPS_M * WARP_M;
}
FUNCTION int
block_col(const int item) {
  return item / 32 / WARPS_M * WARP_N;
}
#include "gemm/tensor/work.h"
#include "gemm/tensor/result.h"

typedef char exchange_fits_into_stages[EXCHANGE_BYTES <= STAGES * STAGE_BYTES ? 1 : -1];

// Begins to copy `rows` rows of each of a block's tiles, which will lie one after the other.
FUNCTION void
copy_tiles(LOCAL_PTR uint* to, const __global uint* from, const int rows, const int terms, const int item) {
  const int part = rows * ROW_BYTES;
#pragma unroll
  for (int v = 0; v < terms * part / 16 / WORK_ITEMS; ++v) {
    const int at = v * WORK_ITEMS * 16;
    COPY_TO_LOCAL(4, (LOCAL_PTR float*)(to + at / 4 + 4 * item),
                  (const __global float*)(from + (at / part * SMEM_TILE_BYTES + at % part) / 4 + 4 * item));
  }
}

// Begins to copy the i-th block of a split. There is a group of copies for each, also beyond the last.
FUNCTION void
copy_stage(LOCAL_PTR uint* stage, const struct Panels* a, const struct Panels* b, const int i,
           const int count, const int item) {
  if (i < count) {
    copy_tiles(stage, b->tiles + i * b->step, TSN, B_TERMS, item);
    copy_tiles(stage + B_BYTES / 4, a->tiles + i * a->step, TSM, A_TERMS, item);
  }
  COPY_COMMIT();
}

// A work-item names rows: their positions in a stage, of the first blocks of its sub-group: of B, 16
// rows by 16 along k; of A, two times 8 rows by 16.
FUNCTION uint
row_of_b(const int item) {
  const int lane = item % 32;
  const int row = item / 32 / WARPS_M * WARP_N + lane % 16;
  return (uint)chunk_position(row, lane / 16);
}
FUNCTION uint
row_of_a(const int item) {
  const int lane = item % 32;
  const int row = item / 32 % WARPS_M * WARP_M + lane / 16 * 8 + lane % 8;
  return (uint)(B_BYTES + chunk_position(row, lane / 8 % 2));
}

// Reads blocks of 16 rows, from the first-th on, of every term: fragments[block][term][step][4].
FUNCTION void
load_blocks(uint* fragments, const uint row, const int first, const int blocks, const int terms,
            const int term_bytes) {
#pragma unroll
  for (int i = 0; i < blocks * terms * STEPS; ++i) {
    const int block = first + i / STEPS / terms;
    const int term = i / STEPS % terms;
    const int step = i % STEPS;
    LOAD_FRAGMENT(fragments + 4 * i,
                  (row ^ (uint)(step * 32)) + (uint)(block * (16 * ROW_BYTES) + term * term_bytes));
  }
}

// Adds to acc the products of the terms of which B's is the i-th and A's the j-th.
FUNCTION void
multiply(float (*acc)[4], const uint* a, const uint* b, const int i, const int j) {
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
#pragma unroll
    for (int m = 0; m < BLOCKS_M; ++m) {
      MULTIPLY_BLOCK(TERM, acc[m], b + (i * STEPS + step) * 4,
                     a + ((m / 2 * A_TERMS + j) * STEPS + step) * 4 + m % 2 * 2);
    }
  }
}

FUNCTION void
promote(float* sums, float (*acc)[4], const float scale) {
#pragma unroll
  for (int i = 0; i < SUMS_AT_ONCE; ++i) {
    sums[i] = fma(acc[i / 4][i % 4], scale, sums[i]);
    acc[i / 4][i % 4] = 0.0f;
  }
}

// All products of 16 columns: the smallest first, because little of them is cut off then.
FUNCTION void
multiply_columns(float* sums, const uint* a, const uint* b, const float scale) {
  float acc[BLOCKS_M][4];
#pragma unroll
  for (int i = 0; i < SUMS_AT_ONCE; ++i) {
    acc[i / 4][i % 4] = 0.0f;
  }
#pragma unroll
  for (int both = TERMS - 1; both > 0; --both) {
#pragma unroll
    for (int i = both; i >= 0; --i) {
      if (i < B_TERMS && both - i < A_TERMS) {
        multiply(acc, a, b, i, both - i);
      }
    }
  }
  if (!BF16X6 && (A_TERMS > 1 || B_TERMS > 1)) {
    promote(sums, acc, scale * (1.0f / NEXT_TERM_SCALE));
  }
  multiply(acc, a, b, 0, 0);
  promote(sums, acc, scale);
}

// The next columns' terms are read before those at hand are multiplied.
FUNCTION void
multiply_stage(float* sums, const uint a_row, const uint b_row, const float scale) {
  uint a[BLOCKS_M / 2 * A_TERMS * STEPS * 4];
  uint b[2][B_TERMS * STEPS * 4];
  load_blocks(b[0], b_row, 0, 1, B_TERMS, B_TERM_BYTES);
  load_blocks(a, a_row, 0, BLOCKS_M / 2, A_TERMS, A_TERM_BYTES);
#pragma unroll
  for (int n = 0; n < BLOCKS_N; ++n) {
    if (n + 1 < BLOCKS_N) {
      load_blocks(b[(n + 1) % 2], b_row, n + 1, 1, B_TERMS, B_TERM_BYTES);
    }
    multiply_columns(sums + n * SUMS_AT_ONCE, a, b[n % 2], scale);
  }
}

// The sums of a split; false where the tile is left out.
FUNCTION bool
multiply_split(float* sums, const struct Panels* a, const struct Panels* b, const struct Tile* tile,
               const int blocks, LOCAL_PTR uint* memory, const int item) {
  barrier(CLK_LOCAL_MEM_FENCE);  // nobody reads the split before any more
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) {
    copy_stage(memory + i * (STAGE_BYTES / 4), a, b, i, tile->count, item);
  }
  if (!tile_is_exact(a, b, blocks, item % 32)) {
    COPY_WAIT(0);
    return false;
  }
  set_to_zero(sums, SUMS);
  const uint a_row = LOCAL_ADDRESS(memory) + row_of_a(item);
  const uint b_row = LOCAL_ADDRESS(memory) + row_of_b(item);
  const __global float* a_scales = a->scales + tile->begin;
  const __global float* b_scales = b->scales + tile->begin;
  int stage = 0;
#pragma unroll 1
  for (int i = 0; i < tile->count; ++i) {
    const float scale = a_scales[i] * b_scales[i];
    COPY_WAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int free_stage = stage == 0 ? STAGES - 1 : stage - 1;
    copy_stage(memory + free_stage * (STAGE_BYTES / 4), a, b, i + STAGES - 1, tile->count, item);
    multiply_stage(sums, a_row + (uint)(stage * STAGE_BYTES), b_row + (uint)(stage * STAGE_BYTES), scale);
    stage = stage + 1 == STAGES ? 0 : stage + 1;
  }
  return true;
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
tensor_mma(ARGUMENTS(TensorArguments), const __global uint* A, const __global uint* B,
           const __global float* C, const __global long* c_table, __global float* D,
           const __global long* d_table, __global float* W, const __global int* tiles_at) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(TensorArguments);
  DYNAMIC_LOCAL(uint, memory, STAGES * STAGE_BYTES / 4, 1024);
  __local int arrived[1];
  const int item = get_local_id(0);
  const struct Work work = work_of(&p);
  const __global GroupTile* groups = group_tiles_at(tiles_at, p.tiles_offset);
  for (long id = get_group_id(0); id < work.count; id += get_num_groups(0)) {
    const struct Tile tile = tile_at(id, &work, p.group_m, groups);
    const long row = (long)tile.m * TSM;
    const long col = (long)tile.n * TSN;
    const struct Panels a = panels_of(A + p.a.offset, &p.a, row, &tile, work.blocks, A_TERMS);
    const struct Panels b = panels_of(B + p.b.offset, &p.b, col, &tile, work.blocks, B_TERMS);
    float sums[SUMS];
    if (!multiply_split(sums, &a, &b, &tile, work.blocks, memory, item)) {
      continue;
    }
    int writer = item;  // or else compilers keep places in C in registers that the products need
    OPAQUE(writer);
    if (work.splits == 1 || add_splits(sums, W + p.w_offset, &tile, &work, arrived, writer)) {
      struct TileResult c = result_of(&p, C, c_table, D, d_table, &tile, groups);
      if (p.by_rows) {
        scale_sums(sums, &c, row_scales_of(A + p.a.offset, &p.a, tile.member, work.blocks, A_TERMS) + row,
                   row_scales_of(B + p.b.offset, &p.b, tile.member, work.blocks, B_TERMS) + col, writer);
      }
      writers_barrier();  // nobody reads the last stage any more
      write_tile(&c, sums, (LOCAL_PTR float*)memory, writer);
    }
  }
}
