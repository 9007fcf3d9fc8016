// FP32 accuracy on tensor cores: D <- alpha A B + beta C from the terms that split.cl makes of A and B.
//
//   producer    a work-item copies the tiles of a stage, TSK along k, into local memory, stage after stage
//   consumers   two warpgroups multiply them. Of tiles of 64 columns each has half of the rows; of tiles of
//               128 columns, as here, each has 64 columns and all TSM rows, in halves of 128
//
//              n 64  +-- half 0 --+-- half 1 --+  warpgroup 1     for each stage and half:
//                    +------------+------------+                    acc  = products of terms
//              n 64  +-- half 0 --+-- half 1 --+  warpgroup 2       sum += acc * scale, by FFMA (promotion)
//                        m 128        m 128
//
// A tensor core cuts off what does not fit when it adds, so that its errors point one way and grow with k.
// Promotion ends that after TSK, and gives the stage's sum the scale of its blocks.
//
// wgmma takes n for its rows, so that a work-item holds neighbours along m, which are neighbours in C. It
// reads the first of B's terms from registers, where all halves and products find them, and everything else
// from local memory.
//
// The grid is as large as the device. Each work-group walks over the tiles, all splits of k of all members of
// the batch; group_m tiles along M come before the next along N, so that those at work together share panels
// in the L2 cache. Splits write their sums to a workspace; the last of a tile adds them up in order. Or else
// the splits of a tile are a cluster, whose work-groups have one split each, and add up a share of the tile.
//
// device: compute_capability 90 alone, starts_early

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
#define TSM 256  // work-group tile in M: 128 256
#endif
#ifndef TSN
#define TSN 128  // work-group tile in N: 64 128
#endif
#ifndef TSK
#define TSK 64  // stage along k: 32 64
#endif
#ifndef RESIDENT
#define RESIDENT 1  // work-groups that should fit on a multiprocessor, see dialect.h: 1
#endif
#define ASYNC 0
#include "dialect.h"
#include "tensor_cores.h"
#include "warpgroups.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "update.h"
#include "gemm/tensor/terms.h"

#if TSN == 64 && TSM == 128
#define PRODUCT_ROWS 64  // of C along m, that one instruction has
#else
#define PRODUCT_ROWS 128
#endif
enum {
  OTHER_ROWS = TSN == 64,  // does a warpgroup have other rows than the other, or other columns?
  HALVES = OTHER_ROWS ? 1 : TSM / PANEL,  // of a warpgroup, each of a panel of A
  STEPS = TSK / 16,                       // of k that one instruction multiplies
  CONSUMERS = 256,
  WORK_ITEMS = CONSUMERS + 128,
  A_TERMS = NARROW_A ? 1 : TERMS,
  B_TERMS = NARROW_B ? 1 : TERMS,
  IN_REGISTERS = LEAST(B_TERMS, TERMS - 1),  // terms of B
  A_BLOCK_BYTES = A_TERMS * SMEM_TILE_BYTES,
  B_TERM_BYTES = TSN * ROW_BYTES,
  B_BLOCK_BYTES = B_TERMS * B_TERM_BYTES,
  STAGE_BYTES = B_BLOCK_BYTES + TSM / PANEL * A_BLOCK_BYTES,  // the block of B, then those of A
  STAGES = ROOM_FOR_STAGES / STAGE_BYTES,
  MEMORY_BYTES = STAGES * STAGE_BYTES,
  PRODUCER_REGISTERS = 40,
  CONSUMER_REGISTERS = 232,
  BARRIER_OF_CONSUMERS = 1,
  ORDERED = HALVES == 1,  // see wait_in_order
  SPLITS_IN_CLUSTERS = CLUSTERS,
  // For result.h: of a work-item.
  SUMS = HALVES * PRODUCT_ROWS / 2,
  PAIRS = SUMS / 4,
  WRITERS = CONSUMERS
};
FUNCTION void
writers_barrier() {
  NAMED_BARRIER(BARRIER_OF_CONSUMERS, CONSUMERS);
}
FUNCTION int
block_row(const int item) {
  return OTHER_ROWS ? item / 128 * PRODUCT_ROWS : 0;
}
FUNCTION int
block_col(const int item) {
  return (OTHER_ROWS ? item % 128 : item) / 32 * 16;
}

#include "gemm/tensor/work.h"
#include "gemm/tensor/result.h"

// Local memory: where the stages are, and barriers for those that are full and those that are empty.
struct Stages {
  uint memory;
  uint full;
  uint empty;
};

// The position in the ring of stages: the next stage, and the parity of its phase.
struct Ring {
  uint stage;
  uint parity;
};
FUNCTION void
go_on(struct Ring* ring) {
  ring->stage = ring->stage + 1 == STAGES ? 0 : ring->stage + 1;
  ring->parity ^= ring->stage == 0 ? 1u : 0u;
}

// A work-item names a row of B's fragment: its position in a tile, and the same along k.
FUNCTION uint
fragment_row(const int item) {
  const int lane = item % 32;
  const int row = block_col(item) + lane % 8 + lane / 8 % 2 * 8;
  return (uint)chunk_position(row, lane / 16);
}
FUNCTION uint
fragment_position(const uint row, const int step) {
  return row ^ (uint)(step * 32);
}

// With one half, warpgroups take turns at the tensor cores, so that one promotes while the other
// multiplies: left to themselves, both wait for the same products. With two halves this costs more than it
// brings.
FUNCTION int
barrier_of_order(const int warpgroup) {
  return BARRIER_OF_CONSUMERS + 1 + warpgroup;
}
FUNCTION void
wait_in_order(const int item) {
  if (ORDERED) {
    NAMED_BARRIER(barrier_of_order(item / 128), CONSUMERS);
  }
}
FUNCTION void
pass_order(const int item) {
  if (ORDERED) {
    NAMED_BARRIER_ARRIVE(barrier_of_order(1 - item / 128), CONSUMERS);
  }
}

// acc becomes the products of the terms of which B's is the i-th and A's the j-th.
FUNCTION void
multiply(float* acc, uint fragments[IN_REGISTERS][STEPS][4], const ulong b_matrix, const ulong a_matrix,
         const int i, const int j, const int adds) {
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    const ulong a_step = a_matrix + (ulong)(j * SMEM_TILE_BYTES / 16 + 2 * step);
    if (i < IN_REGISTERS) {
      WARPGROUP_MULTIPLY(TERM, PRODUCT_ROWS, acc, fragments[i][step], a_step, adds || step > 0);
    } else {
      WARPGROUP_MULTIPLY_LOCAL(TERM, PRODUCT_ROWS, acc, b_matrix + (ulong)(i * B_TERM_BYTES / 16 + 2 * step),
                               a_step, adds || step > 0);
    }
  }
}

FUNCTION void
promote(float* sums, const float* acc, const float scale) {
#pragma unroll
  for (int i = 0; i < PRODUCT_ROWS / 2; ++i) {
    sums[i] = fma(acc[i], scale, sums[i]);
  }
}

// One half of a stage: the smallest products first, because little of them is cut off then.
FUNCTION void
multiply_half(float* sums, uint fragments[IN_REGISTERS][STEPS][4], const ulong b_matrix, const ulong a_matrix,
              const float scale, const int item) {
  float acc[PRODUCT_ROWS / 2];
  wait_in_order(item);
  WARPGROUP_ARRIVE();
  int adds = 0;
#pragma unroll
  for (int both = TERMS - 1; both > 0; --both) {
#pragma unroll
    for (int i = both; i >= 0; --i) {
      if (i < B_TERMS && both - i < A_TERMS) {
        multiply(acc, fragments, b_matrix, a_matrix, i, both - i, adds);
        adds = 1;
      }
    }
  }
  if (!BF16X6 && adds) {
    WARPGROUP_COMMIT();
    pass_order(item);
    WARPGROUP_WAIT();
    promote(sums, acc, scale * (1.0f / NEXT_TERM_SCALE));
    wait_in_order(item);
    WARPGROUP_ARRIVE();
    adds = 0;
  }
  multiply(acc, fragments, b_matrix, a_matrix, 0, 0, adds);
  WARPGROUP_COMMIT();
  pass_order(item);
  WARPGROUP_WAIT();
  promote(sums, acc, scale);
}

// Brings all blocks of a split. Of half a panel of B, each term's tile has a part.
FUNCTION void
bring_split(const struct Panels* a, const struct Panels* b, const int count, const struct Stages* stages,
            struct Ring* ring) {
  enum { COPIES = TSN == PANEL ? 1 : B_TERMS };
  for (int i = 0; i < count; ++i) {
    MBARRIER_WAIT(stages->empty + 8 * ring->stage, ring->parity ^ 1u);
    const uint full = stages->full + 8 * ring->stage;
    const uint to = stages->memory + ring->stage * STAGE_BYTES;
    MBARRIER_ARRIVE_EXPECT(full, STAGE_BYTES);
#pragma unroll
    for (int copy = 0; copy < COPIES; ++copy) {
      COPY_BULK(to + copy * B_TERM_BYTES, b->tiles + i * b->step + copy * (SMEM_TILE_BYTES / 4),
                B_BLOCK_BYTES / COPIES, full);
    }
    COPY_BULK(to + B_BLOCK_BYTES, a->tiles + i * a->step, TSM / PANEL * A_BLOCK_BYTES, full);
    go_on(ring);
  }
}

FUNCTION void
multiply_split(float* sums, const struct Panels* a, const struct Panels* b, const struct Tile* tile,
               const int blocks, const struct Stages* stages, const int item, struct Ring* ring) {
  const uint row = fragment_row(item);
  const int panel = block_row(item) / PANEL;
  const uint a_at = (uint)(B_BLOCK_BYTES + panel * A_BLOCK_BYTES + block_row(item) % PANEL * ROW_BYTES);
  const uint b_at = (uint)(block_col(item - item % 128) * ROW_BYTES);
  for (int i = 0; i < tile->count; ++i) {
    const float b_scale = b->scales[tile->begin + i];
    float scales[HALVES];
#pragma unroll
    for (int h = 0; h < HALVES; ++h) {
      scales[h] = b_scale * a->scales[(panel + h) * blocks + tile->begin + i];
    }
    const uint stage = stages->memory + ring->stage * STAGE_BYTES;
    MBARRIER_WAIT(stages->full + 8 * ring->stage, ring->parity);
    uint fragments[IN_REGISTERS][STEPS][4];
#pragma unroll
    for (int term = 0; term < IN_REGISTERS; ++term) {
#pragma unroll
      for (int step = 0; step < STEPS; ++step) {
        LOAD_FRAGMENT(fragments[term][step], stage + term * B_TERM_BYTES + fragment_position(row, step));
      }
    }
    const ulong b_matrix = LOCAL_MATRIX(stage + b_at, ROW_BYTES);
#pragma unroll
    for (int h = 0; h < HALVES; ++h) {
      multiply_half(sums + h * 64, fragments, b_matrix,
                    LOCAL_MATRIX(stage + a_at + h * A_BLOCK_BYTES, ROW_BYTES), scales[h], item);
    }
    MBARRIER_ARRIVE(stages->empty + 8 * ring->stage);  // each for what it has read itself
    go_on(ring);
  }
}

// Adds up the splits of a cluster, in ascending order. Its work-groups take turns to add up and write a share
// of the tile. The stages are done with.
#if CLUSTERS
enum { SHARES = PAIRS / PAIRS_AT_ONCE * COLUMNS };  // of a work-item's sums: what write_block() writes
#define SUM_POSITION(share, half) (memory + (((share)*2 + (half)) * CONSUMERS + item) * 4)
FUNCTION void
write_in_cluster(const float* sums, const struct TileResult* c, LOCAL_PTR float* memory,
                 LOCAL_PTR float* exchange, const int cluster, const int item) {
  writers_barrier();
#pragma unroll
  for (int share = 0; share < SHARES; ++share) {
    float own[2 * PAIRS_AT_ONCE];
#pragma unroll
    for (int i = 0; i < PAIRS_AT_ONCE; ++i) {
      const int pair = share / COLUMNS * PAIRS_AT_ONCE + i;
      vstore2(vload2(0, sums + pair_of_sums(share % COLUMNS, pair)), i, own);
    }
    vstore4(vload4(0, own), 0, SUM_POSITION(share, 0));
    vstore4(vload4(1, own), 0, SUM_POSITION(share, 1));
  }
  CLUSTER_BARRIER();
#pragma unroll 1
  for (int share = (int)get_group_id(2); share < SHARES; share += cluster) {
    float4 low = (float4)(-0.0f);  // to which any sum is added exactly
    float4 high = low;
#pragma unroll 4
    for (int part = 0; part < cluster; ++part) {
      low += READ_IN_CLUSTER(4, SUM_POSITION(share, 0), (uint)part);
      high += READ_IN_CLUSTER(4, SUM_POSITION(share, 1), (uint)part);
    }
    float totals[2 * PAIRS_AT_ONCE];
    vstore4(low, 0, totals);
    vstore4(high, 1, totals);
    const int first = share / COLUMNS * PAIRS_AT_ONCE;
    if (c->in_pairs) {
      write_block(c, totals, 2, share % COLUMNS, first, exchange, item, 2);
    } else {
      write_block(c, totals, 2, share % COLUMNS, first, exchange, item, 1);
    }
  }
  CLUSTER_BARRIER_RELAXED();
}
#endif

// The producer's part, from the first tile to the last.
FUNCTION void
produce(const TensorArguments* p, const __global uint* A, const __global uint* B,
        const __global GroupTile* groups, const struct Stages* stages, const int item) {
  const struct Work work = work_of(p);
  struct Ring ring = {0, 0};
  for (long id = get_group_id(0); id < work.count; id += get_num_groups(0)) {
    const struct Tile tile = tile_at(id, &work, p->group_m, groups);
    const struct Panels a = panels_of(A, &p->a, (long)tile.m * TSM, &tile, work.blocks, A_TERMS);
    const struct Panels b = panels_of(B, &p->b, (long)tile.n * TSN, &tile, work.blocks, B_TERMS);
    if (tile_is_exact(&a, &b, work.blocks, item % 32) && item % 32 == 0) {
      bring_split(&a, &b, tile.count, stages, &ring);
    }
  }
}

// A consumer's part.
FUNCTION void
consume(const TensorArguments* p, const __global uint* A, const __global uint* B, const __global float* C,
        const __global long* c_table, __global float* D, const __global long* d_table, __global float* W,
        const __global GroupTile* groups, const struct Stages* stages, LOCAL_PTR uint* memory,
        LOCAL_PTR int* arrived, const int item) {
  LOCAL_PTR float* exchange = (LOCAL_PTR float*)memory + MEMORY_BYTES / 4;
  const struct Work work = work_of(p);
  struct Ring ring = {0, 0};
  if (item >= 128) {
    pass_order(item);
  }
  for (long id = get_group_id(0); id < work.count; id += get_num_groups(0)) {
    const struct Tile tile = tile_at(id, &work, p->group_m, groups);
    const struct Panels a = panels_of(A, &p->a, (long)tile.m * TSM, &tile, work.blocks, A_TERMS);
    const struct Panels b = panels_of(B, &p->b, (long)tile.n * TSN, &tile, work.blocks, B_TERMS);
    if (!tile_is_exact(&a, &b, work.blocks, item % 32)) {
      continue;
    }
    float sums[SUMS];
    set_to_zero(sums, SUMS);
    multiply_split(sums, &a, &b, &tile, work.blocks, stages, item, &ring);
    int writer = item;  // or else compilers keep places in C in registers that the products need
    OPAQUE(writer);
    struct TileResult c = result_of(p, C, c_table, D, d_table, &tile, groups);
#if CLUSTERS
    if (work.clustered) {
      write_in_cluster(sums, &c, (LOCAL_PTR float*)memory, exchange, work.splits, writer);
      continue;
    }
#endif
    if (work.splits == 1 || add_splits(sums, W, &tile, &work, arrived, writer)) {
      if (p->by_rows) {
        scale_sums(sums, &c, row_scales_of(A, &p->a, tile.member, work.blocks, A_TERMS) + (long)tile.m * TSM,
                   row_scales_of(B, &p->b, tile.member, work.blocks, B_TERMS) + (long)tile.n * TSN, writer);
      }
      write_tile(&c, sums, exchange, writer);
    }
  }
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
tensor(ARGUMENTS(TensorArguments), const __global uint* A, const __global uint* B, const __global float* C,
       const __global long* c_table, __global float* D, const __global long* d_table, __global float* W,
       const __global int* tiles_at) {
  TAKE_ARGUMENTS(TensorArguments);
  DYNAMIC_LOCAL(uint, memory, (MEMORY_BYTES + EXCHANGE_BYTES) / 4, 1024);
  __local ulong barriers[2 * STAGES];
  __local int arrived[1];
  const int item = get_local_id(0);
  struct Stages stages;
  stages.memory = LOCAL_ADDRESS(memory);
  stages.full = LOCAL_ADDRESS(barriers);
  stages.empty = stages.full + 8 * STAGES;
  if (item == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      MBARRIER_INIT(stages.full + 8 * stage, 1);
      MBARRIER_INIT(stages.empty + 8 * stage, CONSUMERS);
    }
    MBARRIER_FENCE();
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  GRID_DEPENDENCY_WAIT();
  if (item >= CONSUMERS) {
    RELEASE_REGISTERS(PRODUCER_REGISTERS);
    if (item < CONSUMERS + 32) {
      produce(&p, A + p.a.offset, B + p.b.offset, group_tiles_at(tiles_at, p.tiles_offset), &stages, item);
    }
  } else {
    ACQUIRE_REGISTERS(CONSUMER_REGISTERS);
    consume(&p, A + p.a.offset, B + p.b.offset, C, c_table, D, d_table, W + p.w_offset,
            group_tiles_at(tiles_at, p.tiles_offset), &stages, memory, arrived, item);
  }
}
