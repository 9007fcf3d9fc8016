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
// the others operand 1; each has blocks_of_group blocks along k, and loads the next while it splits one.
// Those in the second dimension walk over the members of the batch. The host says how many terms the values
// of each operand have: one, where a term holds 16-bit values.
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
#define RESIDENT 2  // work-groups that should fit on a multiprocessor, see dialect.h: 2 3
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

// --- Loading -----------------------------------------------------------------------------------------------
//
// A work-item's part of a block is kept as it is stored until it is used, so that all of it is on its way at
// once. An element of 16 bits has a word to itself, or two share one if they are loaded in vectors. Then the
// words of a chunk's second half are not used.

FUNCTION void
load_vectors(float* words, const struct Source* panel, const long from) {
  if (panel->type == FP32_ELEMENTS) {
    const __global float4* vectors = (const __global float4*)(panel->matrix + from);
    vstore4(vectors[0], 0, words);
    vstore4(vectors[1], 1, words);
  } else {
    vstore4(*(const __global float4*)((const __global ushort*)panel->matrix + from), 0, words);
  }
}
// The first `count` of a chunk.
FUNCTION void
load_elements(float* words, const struct Source* panel, const long from, const int count) {
  if (panel->type == FP32_ELEMENTS) {
    const __global float* at = panel->matrix + from;
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      words[x] = x < count ? *at : 0.0f;
      at += panel->k_step;
    }
  } else {
    const __global ushort* at = (const __global ushort*)panel->matrix + from;
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      words[x] = AS_FLOAT((uint)(x < count ? *at : 0));
      at += panel->k_step;
    }
  }
}

// Do all chunks of a panel's whole blocks begin at multiples of 16 bytes?
FUNCTION bool
is_in_vectors(const struct Source* panel, const bool along_k) {
  const uint bytes = panel->type == FP32_ELEMENTS ? 4 : 2;  // of an element
  return panel->rows >= PANEL && along_k && ((ulong)panel->matrix + panel->first * bytes) % 16 == 0 &&
         panel->row_step * bytes % 16 == 0;
}

// Loads a work-item's chunks, which begin at `from`, of a block of which `depth` is there along k, perhaps
// more than it has. A block that is whole, as most are, takes far fewer instructions.
FUNCTION void
load_block(float* words, const struct Source* panel, const long* from, const int depth, const bool in_vectors,
           const uint item) {
  const bool along_k = panel->k_step == 1;
  if (in_vectors && depth >= TSK) {
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
      load_vectors(words + 8 * i, panel, from[i]);
    }
  } else if (panel->rows >= PANEL && depth >= TSK) {
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
      load_elements(words + 8 * i, panel, from[i], 8);
    }
  } else {
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
      const bool exists = chunk_row(item, i, along_k) < panel->rows;
      load_elements(words + 8 * i, panel, from[i], exists ? depth - 8 * chunk_column(item, i, along_k) : 0);
    }
  }
}

#define UNPACK_NARROW(type)                                                                            \
  if (in_vectors) {                                                                                    \
    _Pragma("unroll") for (int x = 0; x < VALUES / 2; ++x) {                                           \
      const uint pair = AS_UINT(words[x / 4 * 8 + x % 4]);                                             \
      values[2 * x] = FIRST(type, pair);                                                               \
      values[2 * x + 1] = SECOND(type, pair);                                                          \
    }                                                                                                  \
  } else {                                                                                             \
    _Pragma("unroll") for (int x = 0; x < VALUES; ++x) { values[x] = FIRST(type, AS_UINT(words[x])); } \
  }
FUNCTION void
unpack(float* values, const float* words, const int type, const bool in_vectors) {
  if (type == FP32_ELEMENTS) {
#pragma unroll
    for (int x = 0; x < VALUES; ++x) {
      values[x] = words[x];
    }
  } else if (type == BF16_ELEMENTS) {
    UNPACK_NARROW(BF16);
  } else {
    UNPACK_NARROW(F16);
  }
}

// --- Splitting ---------------------------------------------------------------------------------------------

// The largest of all work-items' values, as bits. A NaN does not count: no terms add up to one.
FUNCTION uint
largest(const float* values, LOCAL_PTR uint* shared, const uint item) {
  float greatest = 0.0f;
#pragma unroll
  for (int x = 0; x < VALUES; ++x) {
    greatest = fmax(greatest, fabs(values[x]));
  }
  const uint most = SUB_GROUP_MAX(AS_UINT(greatest));
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
// greatest excess of its values. One term must be the value.
FUNCTION int
split_chunk(LOCAL_PTR uint* tiles, __global uint* to, const bool along_k, const float* values,
            const float factor, const int row, const int column, const int terms) {
  int most = 0;
  uint left = 0;
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
        if (term < terms - 1) {
          first_left *= NEXT_TERM_SCALE;
          second_left *= NEXT_TERM_SCALE;
          unit *= NEXT_TERM_SCALE;
        }
      }
    }
    left |= AS_UINT(first_left) | AS_UINT(second_left);
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
  return terms == 1 ? (int)(left & 0x7fffffffu) : most;
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
split_block(const float* values, const bool along_k, const bool none, const int terms, __global uint* to,
            __global float* scale_at, __global float* row_scales, LOCAL_PTR uint* tiles,
            LOCAL_PTR uint* shared, LOCAL_PTR int* inexact, const uint item) {
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
    *scale_at = none ? SCALE_OF_NONE : *inexact ? SCALE_OF_INEXACT : scale;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
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
  const int groups_along_k = (int)((blocks + p.blocks_of_group - 1) / p.blocks_of_group);
  const uint of_first = (uint)p.a.panels * groups_along_k;
  const bool is_first = (uint)get_group_id(0) < of_first;
  const uint group = (uint)get_group_id(0) - (is_first ? 0 : of_first);
  const long members = is_first ? p.a.members : p.b.members;
  const int terms = (int)(is_first ? p.a.terms : p.b.terms);
  const uint panels = (uint)(is_first ? p.a.panels : p.b.panels);
  int along = (int)(group / panels);
  int panel = (int)(group - along * panels);
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
    OPAQUE(along);
    struct Source source;
    if (is_first) {
      find_panel(&source, A, MEMBER_ELEMENT(A, p.a.x, a_table, member, p.a.type), &p.a, p.depth, panel, 0);
    } else {
      find_panel(&source, B, MEMBER_ELEMENT(B, p.b.x, b_table, member, p.b.type), &p.b, p.depth, panel,
                 group_tiles_at(tiles_at, p.tiles_offset));
    }
    __global float* scales = (__global float*)Y;
    const bool along_k = source.k_step == 1;
    const bool in_vectors = is_in_vectors(&source, along_k);
    const int first = along * (int)p.blocks_of_group;
    const int end = (int)LEAST(first + p.blocks_of_group, blocks);
    int depth = source.depth - first * TSK;
    long from[OWN];
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
      from[i] = source.first + chunk_row(item, i, along_k) * source.row_step +
                (long)(first * TSK + 8 * chunk_column(item, i, along_k)) * source.k_step;
    }
    float words[VALUES];
    load_block(words, &source, from, depth, in_vectors, item);
#pragma unroll 1
    for (int block = first; block < end; ++block) {
      float values[VALUES];
      unpack(values, words, source.type, in_vectors && depth >= TSK);
      depth -= TSK;
#pragma unroll
      for (int i = 0; i < OWN; ++i) {
        from[i] += TSK * source.k_step;
      }
      if (block + 1 < end) {
        load_block(words, &source, from, depth, in_vectors, item);
      }
      split_block(values, along_k, source.none, terms,
                  Y + ((member * blocks + block) * panels + panel) * (terms * (SMEM_TILE_BYTES / 4)),
                  scales + scales_position(members, member, panel, (long)panels, (long)blocks, terms) + block,
                  scales + row_scales_position(members, member, panel, (long)panels, (long)blocks, terms),
                  tiles, shared, inexact, item);
    }
  }
}
