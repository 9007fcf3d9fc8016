// Splits the values of A and B into terms for tensor cores (see terms.h).
//
//   a block of X, PANEL x TSK  -->  registers: a work-item has 8 neighbours along k of a few rows
//                              -->  the largest of all, which gives the scale
//                              -->  terms, as tiles: by way of local memory where neighbouring work-items
//                                   have other rows, so that all of them
//                              -->  write global memory from one end to the other
//
// The matrix X has `rows` rows (m of A, n of B) and `depth` columns (k), of which neighbours stand row_step
// and k_step apart: one of the two is 1. What lies beyond them is zero. The first work-groups have operand 0,
// the others operand 1; one has one block. Those in the second dimension walk over the members of the batch.
// The host says how many terms the values of each operand have: one, where a term holds 16-bit values.
//
// device: compute_capability 80, starts_early

#ifndef BF16X6
#define BF16X6 0  // terms are two FP16 or three BF16 numbers: 0 1
#endif
#ifndef TSK
#define TSK 64  // block along k: 32 64
#endif
#ifndef BY_ROWS
#define BY_ROWS 0  // rows have scales, made by row_scales.cl, and not each block: 0 1
#endif
#ifndef RESIDENT
#define RESIDENT 2  // work-groups that should fit on a multiprocessor, see dialect.h: 2 4
#endif

#define ASYNC 0
#include "dialect.h"
#include "tensor_cores.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/element.h"
#include "gemm/tensor/terms.h"
#include "gemm/tensor/source.h"

#define TOLERANCE (BF16X6 ? 0.0f : 0x1p-23f)  // the part of a value that terms may miss, relative to it
enum {
  CHUNKS = TSK / 8,  // of a row
  OWN = 2,           // chunks of a work-item
  VALUES = 8 * OWN,
  WORK_ITEMS = PANEL * CHUNKS / OWN,
  SUB_GROUPS = WORK_ITEMS / 32,
  VECTORS_OF_TERM = SMEM_TILE_BYTES / 16 / WORK_ITEMS
};

// The chunk of the block that is a work-item's i-th: neighbours read what stands side by side in memory.
FUNCTION int
chunk_row(const uint item, const int i, const bool along_k) {
  return (int)(along_k ? (i * WORK_ITEMS + item) / CHUNKS : item % PANEL);
}
FUNCTION int
chunk_column(const uint item, const int i, const bool along_k) {
  return (int)(along_k ? item % CHUNKS : item / PANEL + i * (WORK_ITEMS / PANEL));
}

// A chunk that begins at a multiple of 16 bytes.
FUNCTION void
load_vectors(float* to, const struct Source* source, const long from) {
  if (source->type == FP32_ELEMENTS) {
    const __global float4* vectors = (const __global float4*)(source->matrix + from);
    vstore4(vectors[0], 0, to);
    vstore4(vectors[1], 1, to);
    return;
  }
  const uint4 vector = *(const __global uint4*)((const __global ushort*)source->matrix + from);
  const uint pairs[4] = {vector.x, vector.y, vector.z, vector.w};
  if (source->type == BF16_ELEMENTS) {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      to[2 * x] = FIRST(BF16, pairs[x]);
      to[2 * x + 1] = SECOND(BF16, pairs[x]);
    }
  } else {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      to[2 * x] = FIRST(F16, pairs[x]);
      to[2 * x + 1] = SECOND(F16, pairs[x]);
    }
  }
}
// The first `count` of a chunk.
FUNCTION void
load_values(float* to, const struct Source* source, const long from, const int count) {
  if (source->type == FP32_ELEMENTS) {
    const __global float* at = source->matrix + from;
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      to[x] = x < count ? *at : 0.0f;
      at += source->k_step;
    }
  } else {
    const __global ushort* at = (const __global ushort*)source->matrix + from;
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      to[x] = x < count ? float_of_bits(*at, source->type) : 0.0f;
      at += source->k_step;
    }
  }
}

// A block that is whole, as most are, takes far fewer instructions.
FUNCTION void
load_block(float* values, const struct Source* source, const bool along_k, const uint item) {
  const bool whole = source->rows >= PANEL && source->depth >= TSK;
  const uint bytes = source->type == FP32_ELEMENTS ? 4 : 2;  // of an element
  const bool vectors = whole && along_k && ((ulong)source->matrix + source->first * bytes) % 16 == 0 &&
                       source->row_step * bytes % 16 == 0;
#pragma unroll
  for (int i = 0; i < OWN; ++i) {
    const int row = chunk_row(item, i, along_k);
    const int k = chunk_column(item, i, along_k) * 8;
    const long from = source->first + row * source->row_step + k * source->k_step;
    if (vectors) {
      load_vectors(values + 8 * i, source, from);
    } else if (whole) {
      load_values(values + 8 * i, source, from, 8);
    } else {
      load_values(values + 8 * i, source, from, row < source->rows ? source->depth - k : 0);
    }
  }
}

// The largest of all work-items' values, as bits.
FUNCTION uint
largest(const float* values, LOCAL_PTR uint* shared, const uint item) {
  uint most = 0;
#pragma unroll
  for (int x = 0; x < VALUES; ++x) {
    most = max(most, AS_UINT(values[x]) & 0x7fffffffu);
  }
  most = SUB_GROUP_MAX(most);
  if (item % 32 == 0) {
    shared[item / 32] = most;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return SUB_GROUP_MAX(shared[item % SUB_GROUPS]);
}

// Has scaling any of a chunk's values down cost it bits, or all of it?
FUNCTION bool
loses_bits(const float* values, const float factor) {
  bool lost = false;
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    lost |= fabs(values[x] * factor) < 0x1p-126f && values[x] != 0.0f;
  }
  return lost;
}

// Above 0 where what is left of a finite value is more than that part of it: as an integer, of which the
// greatest of many takes fewer instructions than a condition for each.
FUNCTION int
excess(const float left, const float value, const float part) {
  return (int)AS_UINT(fma(-part, fabs(value), fabs(left)));
}

// Puts the terms of a chunk into its place in each tile, `to` in global memory or `tiles`, and answers the
// greatest excess of its values.
FUNCTION int
split_chunk(LOCAL_PTR uint* tiles, __global uint* to, const bool along_k, const float* values,
            const float factor, const int row, const int column, const int terms) {
  int most = 0;
  uint pairs[TERMS][4];
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    const float first = values[2 * x] * factor;
    const float second = values[2 * x + 1] * factor;
    float first_left = first;
    float second_left = second;
    float unit = 1.0f;
#pragma unroll
    for (int term = 0; term < TERMS; ++term) {
      if (term < terms) {
        const uint pair = PACK(TERM, first_left, second_left);
        pairs[term][x] = pair;
        first_left -= FIRST(TERM, pair);
        second_left -= SECOND(TERM, pair);
        if (term < TERMS - 1) {
          first_left *= NEXT_TERM_SCALE;
          second_left *= NEXT_TERM_SCALE;
          unit *= NEXT_TERM_SCALE;
        }
      }
    }
    most = max(most, max(excess(first_left, first, TOLERANCE * unit),
                         excess(second_left, second, TOLERANCE * unit)));
  }
#pragma unroll
  for (int term = 0; term < TERMS; ++term) {
    if (term < terms) {
      uint4 chunk;
      chunk.x = pairs[term][0];
      chunk.y = pairs[term][1];
      chunk.z = pairs[term][2];
      chunk.w = pairs[term][3];
      if (along_k) {
        *(__global uint4*)(to + (term * SMEM_TILE_BYTES + chunk_position(row, column)) / 4) = chunk;
      } else {
        *(LOCAL_PTR uint4*)(tiles + (term * SMEM_TILE_BYTES + chunk_position(row, column)) / 4) = chunk;
      }
    }
  }
  return most;
}

// The same of all chunks of a work-item. Where terms miss values the scale of their row becomes NaN, or
// else `inexact` tells. The number of terms is a constant.
FUNCTION void
split_values(LOCAL_PTR uint* tiles, __global uint* to, const bool along_k, const float* values,
             const float scale, __global float* row_scales, LOCAL_PTR int* inexact, const uint item,
             const int terms) {
#pragma unroll
  for (int i = 0; i < OWN; ++i) {
    const int row = chunk_row(item, i, along_k);
    const float factor = factor_of(BY_ROWS ? row_scales[row] : scale);
    const int excess =
        split_chunk(tiles, to, along_k, values + 8 * i, factor, row, chunk_column(item, i, along_k), terms);
    if (excess > 0 || (factor < 1.0f && loses_bits(values + 8 * i, factor))) {
      if (BY_ROWS) {
        row_scales[row] = SCALE_OF_INEXACT;
      } else {
        *inexact = 1;
      }
    }
  }
}

// `inexact` is local memory, which nobody uses before or after.
FUNCTION void
split_block(const struct Source* source, const int terms, __global uint* to, __global float* scale_at,
            __global float* row_scales, LOCAL_PTR uint* tiles, LOCAL_PTR uint* shared, LOCAL_PTR int* inexact,
            const uint item) {
  const bool along_k = source->k_step == 1;
  float values[VALUES];
  load_block(values, source, along_k, item);
  if (item == 0) {
    *inexact = 0;
  }
  const float scale = BY_ROWS ? 1.0f : scale_of(largest(values, shared, item));
  if (terms == 1) {
    split_values(tiles, to, along_k, values, scale, row_scales, inexact, item, 1);
  } else {
    split_values(tiles, to, along_k, values, scale, row_scales, inexact, item, TERMS);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int term = 0; term < TERMS; ++term) {
#pragma unroll
    for (int i = 0; i < VECTORS_OF_TERM; ++i) {
      const uint v = (term * VECTORS_OF_TERM + i) * WORK_ITEMS + item;
      if (term < terms && !along_k) {
        *(__global uint4*)(to + 4 * v) = *(const LOCAL_PTR uint4*)(tiles + 4 * v);
      }
    }
  }
  if (item == 0) {
    *scale_at = source->none ? SCALE_OF_NONE : *inexact ? SCALE_OF_INEXACT : scale;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// A block of a panel's columns along k.
FUNCTION void
find_block(struct Source* source, const int block) {
  const int k = block * TSK;
  source->first += (long)k * source->k_step;
  source->depth = LEAST(source->depth - k, TSK);
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
split(ARGUMENTS(SplitArguments), const __global float* A, const __global long* a_table,
      __global uint* a_terms, const __global float* B, const __global long* b_table, __global uint* b_terms,
      __global uint* counters_at, const __global int* tiles_at) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(SplitArguments);
  __local uint tiles[TERMS * SMEM_TILE_BYTES / 4] __attribute__((aligned(16)));
  __local uint shared[SUB_GROUPS];
  __local int inexact[1];
  uint item = get_local_id(0);
  const int blocks = (int)((p.depth + TSK - 1) / TSK);
  const uint of_first = (uint)p.a.panels * blocks;
  const bool is_first = (uint)get_group_id(0) < of_first;
  const uint group = (uint)get_group_id(0) - (is_first ? 0 : of_first);
  const long members = is_first ? p.a.members : p.b.members;
  const int terms = (int)(is_first ? p.a.terms : p.b.terms);
  const uint panels = (uint)(is_first ? p.a.panels : p.b.panels);
  int block = (int)(group / panels);
  int panel = (int)(group - block * panels);
  __global uint* Y = is_first ? a_terms + p.a.y_offset : b_terms + p.b.y_offset;

  if (p.counters > 0 && get_group_id(1) == 0) {
    for (long i = get_group_id(0) * WORK_ITEMS + item; i < p.counters; i += get_num_groups(0) * WORK_ITEMS) {
      counters_at[p.counters_offset + i] = 0;
    }
  }
  for (long member = get_group_id(1); member < members; member += get_num_groups(1)) {
    // Compilers would carry what follows from these over from member to member, and spill.
    OPAQUE(item);
    OPAQUE(panel);
    OPAQUE(block);
    struct Source source;
    if (is_first) {
      find_panel(&source, A, MEMBER_ELEMENT(A, p.a.x, a_table, member, p.a.type), &p.a, p.depth, panel, 0);
    } else {
      find_panel(&source, B, MEMBER_ELEMENT(B, p.b.x, b_table, member, p.b.type), &p.b, p.depth, panel,
                 group_tiles_at(tiles_at, p.tiles_offset));
    }
    find_block(&source, block);
    __global float* scales = (__global float*)Y;
    split_block(&source, terms,
                Y + ((member * blocks + block) * panels + panel) * (terms * (SMEM_TILE_BYTES / 4)),
                scales + scales_position(members, member, panel, (long)panels, (long)blocks, terms) + block,
                scales + row_scales_position(members, member, panel, (long)panels, (long)blocks, terms),
                tiles, shared, inexact, item);
  }
}
