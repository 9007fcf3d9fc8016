// Splits the values of A and B into terms for tensor cores (see terms.h).
//
// The matrix X has `rows` rows (m of A, n of B) and `depth` columns (k), of which neighbours stand row_step
// and k_step apart: one of the two is 1. What lies beyond them is zero. A sub-group has 8 rows of 32 values
// along k, of which each work-item has a chunk, 8 neighbours along k. Its terms are 16 bytes of a tile. So a
// sub-group reads whole sectors of 32 bytes where X is FP32, however it is stored, and writes whole ones.
//
// The scale is that of a block, or at the level batch_invariant that of a row:
//
//   BY_ROWS 0   a work-group has blocks, PANEL x TSK, blocks_of_group of them one after the other along k,
//               and loads the next while it splits one
//   BY_ROWS 1   a work-group has a strip of 8 rows and all k: it reads them twice, for the largest of each
//               row and to split them
//
// The first work-groups have operand 0, the others operand 1. Those in the second dimension walk over the
// members of the batch. The host says how many terms the values of each operand have: one, where a term
// holds 16-bit values.
//
// device: compute_capability 80, starts_early

#ifndef BF16X6
#define BF16X6 0  // terms are two FP16 or three BF16 numbers: 0 1
#endif
#ifndef TSK
#define TSK 64  // block along k: 32 64
#endif
#ifndef BY_ROWS
#define BY_ROWS 0  // rows have scales, and not each block: 0 1
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

#define TOLERANCE (BF16X6 ? 0.0f : 0x1p-23f)  // the part of a value that terms may miss, relative to it
enum {
  CHUNKS = TSK / 8,  // of a row of a block
  OWN = 2,           // chunks of a work-item
  VALUES = 8 * OWN,
  WORK_ITEMS = PANEL * CHUNKS / OWN,
  SUB_GROUPS = WORK_ITEMS / 32,
  ROWS = BY_ROWS ? STRIP_ROWS : PANEL,              // of a work-group
  STRIPS = PANEL / ROWS,                            // work-groups that have a panel's rows
  ALONG_K = BY_ROWS ? OWN * SUB_GROUPS : TSK / 32,  // sub-groups' parts of a row, side by side
  DEPTH = 32 * ALONG_K,                             // that a work-group has at once
  // From a chunk of a work-item to its next one.
  NEXT_ROW = BY_ROWS ? 0 : PANEL / OWN,
  NEXT_COLUMN = BY_ROWS ? 4 * SUB_GROUPS : 0
};

// The first chunk of a work-item.
FUNCTION int
chunk_row(const uint item, const bool along_k) {
  return (int)(item / 32 / ALONG_K * 8 + (along_k ? item % 32 / 4 : item % 8));
}
FUNCTION int
chunk_column(const uint item, const bool along_k) {
  return (int)(item / 32 % ALONG_K * 4 + (along_k ? item % 4 : item % 32 / 8));
}

// --- Which values ------------------------------------------------------------------------------------------

// Those of a panel of A or B.
struct Source {
  const __global float* matrix;
  int type;    // of its elements
  long first;  // of the panel
  long row_step;
  long k_step;
  int rows;   // that are there, from the first on
  int depth;  // the same along k
  bool none;  // of a panel without rows
};

// A panel of a member of X, which begins at X's element `first`: with all k. The panels of a grouped
// product's B are tiles of groups.
FUNCTION void
find_panel(struct Source* source, const __global float* x, const long first, const SplitOperand* operand,
           const long depth, const int panel, const __global GroupTile* groups) {
  const bool along_k = operand->along_k != 0;
  const long row = groups == 0 ? (long)panel * PANEL : groups[panel].first;
  const long end = groups == 0 ? operand->rows : groups[panel].end;
  source->matrix = x;
  source->type = (int)operand->type;
  source->row_step = along_k ? operand->x.ld : 1;
  source->k_step = along_k ? 1 : operand->x.ld;
  source->first = first + row * source->row_step;
  source->rows = (int)LEAST(end - row, PANEL);  // none where it is negative
  source->none = groups != 0 && source->rows <= 0;
  source->depth = (int)depth;
}

// --- Loading -----------------------------------------------------------------------------------------------
//
// A work-item's chunks are kept as they are stored until they are used, so that all of them are on their way
// at once. An element of 16 bits has a word to itself, or two share one if they are loaded in vectors. Then
// the words of a chunk's second half are not used.

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

// Do a panel's chunks begin at multiples of 16 bytes?
FUNCTION bool
is_in_vectors(const struct Source* panel) {
  const uint bytes = panel->type == FP32_ELEMENTS ? 4 : 2;  // of an element
  return panel->k_step == 1 && ((ulong)panel->matrix + panel->first * bytes) % 16 == 0 &&
         panel->row_step * bytes % 16 == 0;
}

// How many values of its i-th chunk there are, perhaps fewer than none, where `depth` are left along k.
FUNCTION int
values_there(const struct Source* panel, const int depth, const uint item, const int i) {
  const bool along_k = panel->k_step == 1;
  return chunk_row(item, along_k) + i * NEXT_ROW < panel->rows
             ? depth - 8 * (chunk_column(item, along_k) + i * NEXT_COLUMN)
             : 0;
}

// Loads a work-item's chunks of what begins with the k-th. A chunk that is whole, as most are, takes far
// fewer instructions.
FUNCTION void
load_words(float* words, const struct Source* panel, const int k, const bool in_vectors, const uint item) {
  const bool along_k = panel->k_step == 1;
  const long from = panel->first + chunk_row(item, along_k) * panel->row_step +
                    (k + 8 * chunk_column(item, along_k)) * panel->k_step;
#pragma unroll
  for (int i = 0; i < OWN; ++i) {
    const long begin = from + i * (NEXT_ROW * panel->row_step + 8 * NEXT_COLUMN * panel->k_step);
    const int count = values_there(panel, panel->depth - k, item, i);
    if (count < 8) {
      load_elements(words + 8 * i, panel, begin, count);
    } else if (in_vectors) {
      load_vectors(words + 8 * i, panel, begin);
    } else {
      load_elements(words + 8 * i, panel, begin, 8);
    }
  }
}

// The values of a chunk.
#define UNPACK_NARROW(type)                                                                       \
  if (in_vectors) {                                                                               \
    _Pragma("unroll") for (int x = 0; x < 4; ++x) {                                               \
      values[2 * x] = FIRST(type, AS_UINT(words[x]));                                             \
      values[2 * x + 1] = SECOND(type, AS_UINT(words[x]));                                        \
    }                                                                                             \
  } else {                                                                                        \
    _Pragma("unroll") for (int x = 0; x < 8; ++x) { values[x] = FIRST(type, AS_UINT(words[x])); } \
  }
FUNCTION void
unpack(float* values, const float* words, const int type, const bool in_vectors) {
  if (type == FP32_ELEMENTS) {
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      values[x] = words[x];
    }
  } else if (type == BF16_ELEMENTS) {
    UNPACK_NARROW(BF16);
  } else {
    UNPACK_NARROW(F16);
  }
}

// The values that were loaded so.
FUNCTION void
unpack_words(float* values, const float* words, const struct Source* panel, const int k,
             const bool in_vectors, const uint item) {
#pragma unroll
  for (int i = 0; i < OWN; ++i) {
    unpack(values + 8 * i, words + 8 * i, panel->type,
           in_vectors && values_there(panel, panel->depth - k, item, i) >= 8);
  }
}
FUNCTION void
load_values(float* values, const struct Source* panel, const int k, const bool in_vectors, const uint item) {
  float words[VALUES];
  load_words(words, panel, k, in_vectors, item);
  unpack_words(values, words, panel, k, in_vectors, item);
}

// --- Scales ------------------------------------------------------------------------------------------------
//
// A NaN does not count in the largest of values: no terms add up to one.

FUNCTION float
largest(const float* values) {
  float most = 0.0f;
#pragma unroll
  for (int x = 0; x < VALUES; ++x) {
    most = fmax(most, fabs(values[x]));
  }
  return most;
}

// The largest of all work-items' values, as bits.
FUNCTION uint
largest_of_block(const float* values, LOCAL_PTR uint* shared, const uint item) {
  const uint most = SUB_GROUP_MAX(AS_UINT(largest(values)));
  if (item % 32 == 0) {
    shared[item / 32] = most;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return SUB_GROUP_MAX(shared[item % SUB_GROUPS]);
}

// The largest of a work-item's row, from all k, as bits.
FUNCTION uint
largest_of_row(const struct Source* panel, const bool in_vectors, LOCAL_PTR uint* shared, const uint item) {
  enum { OF_ROW = WORK_ITEMS / STRIP_ROWS };
  float most = 0.0f;
#pragma unroll 1
  for (int k = 0; k < panel->depth; k += DEPTH) {
    float values[VALUES];
    load_values(values, panel, k, in_vectors, item);
    most = fmax(most, largest(values));
  }
  const int row = chunk_row(item, panel->k_step == 1);
  shared[row * OF_ROW + chunk_column(item, panel->k_step == 1)] = AS_UINT(most);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < STRIP_ROWS * 32) {
    uint all = 0;
#pragma unroll
    for (int i = 0; i < OF_ROW; i += 32) {
      all = max(all, shared[item / 32 * OF_ROW + i + item % 32]);
    }
    shared[WORK_ITEMS + item / 32] = SUB_GROUP_MAX(all);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared[WORK_ITEMS + row];
}

// --- Splitting ---------------------------------------------------------------------------------------------

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

// Puts the terms of a chunk to their place in the first term's tile and those after it, and answers the
// greatest excess of its values. One term must be the value.
FUNCTION int
split_chunk(__global uint* to, const float* values, const float factor, const int terms) {
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
      *(__global uint4*)(to + term * (SMEM_TILE_BYTES / 4)) = chunk;
    }
  }
  return terms == 1 ? (int)(left & 0x7fffffffu) : most;
}

// An operand's terms, and the scales of a panel: of its blocks, and of a work-group's rows.
typedef struct {
  __global uint* tiles;  // those of the panel's first block
  long step;             // from a block to the next
  int blocks;
  int terms;
  __global float* scales;
  __global float* row_scales;
} Destination;
FUNCTION void
find_destination(Destination* to, __global uint* Y, const SplitOperand* operand, const long member,
                 const int panel, const int strip, const int blocks) {
  to->step = operand->panels * (operand->terms * (SMEM_TILE_BYTES / 4));
  to->tiles = Y + member * blocks * to->step + panel * (operand->terms * (SMEM_TILE_BYTES / 4));
  to->blocks = blocks;
  to->terms = (int)operand->terms;
  __global float* scales = (__global float*)Y;
  to->scales = scales + scales_position(operand->members, member, panel, operand->panels, blocks, to->terms);
  to->row_scales = scales + strip * ROWS +
                   row_scales_position(operand->members, member, panel, operand->panels, blocks, to->terms);
}

// Splits a work-item's values, whose first block is `block`. `inexact` tells where terms miss values: of each
// row, or of the block.
FUNCTION void
split_values(const Destination* to, const float* values, const float scale, LOCAL_PTR int* inexact,
             const int block, const int strip, const bool along_k, const uint item) {
  const float factor = factor_of(scale);
  const int row = chunk_row(item, along_k);
#pragma unroll
  for (int i = 0; i < OWN; ++i) {
    const int column = chunk_column(item, along_k) + i * NEXT_COLUMN;
    const int of_chunk = block + (BY_ROWS ? column / CHUNKS : 0);
    if (!BY_ROWS || of_chunk < to->blocks) {
      __global uint* place = to->tiles + of_chunk * to->step +
                             chunk_position(strip * ROWS + row + i * NEXT_ROW, column % CHUNKS) / 4;
      const int most = to->terms == 1 ? split_chunk(place, values + 8 * i, factor, 1)
                                      : split_chunk(place, values + 8 * i, factor, TERMS);
      if (most > 0 || (factor < 1.0f && loses_bits(values + 8 * i, factor))) {
        inexact[BY_ROWS ? row : 0] = 1;
      }
    }
  }
}

// Blocks with a scale each, from the first to the end.
FUNCTION void
split_blocks(const struct Source* source, const Destination* to, const int first, const int end,
             LOCAL_PTR uint* shared, LOCAL_PTR int* inexact, const uint item) {
  const bool in_vectors = is_in_vectors(source);
  float words[VALUES];
  load_words(words, source, first * TSK, in_vectors, item);
#pragma unroll 1
  for (int block = first; block < end; ++block) {
    float values[VALUES];
    unpack_words(values, words, source, block * TSK, in_vectors, item);
    if (block + 1 < end) {
      load_words(words, source, (block + 1) * TSK, in_vectors, item);
    }
    if (item == 0) {
      *inexact = 0;
    }
    const float scale = scale_of(largest_of_block(values, shared, item));
    split_values(to, values, scale, inexact, block, 0, source->k_step == 1, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
      to->scales[block] = source->none ? SCALE_OF_NONE : *inexact ? SCALE_OF_INEXACT : scale;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Rows with a scale each; those of the blocks are 1.
FUNCTION void
split_rows(const struct Source* source, const Destination* to, const int strip, LOCAL_PTR uint* shared,
           LOCAL_PTR int* inexact, const uint item) {
  const bool along_k = source->k_step == 1;
  const bool in_vectors = is_in_vectors(source);
  if (item < ROWS) {
    inexact[item] = 0;
  }
  const float scale = scale_of(largest_of_row(source, in_vectors, shared, item));
#pragma unroll 1
  for (int block = 0; block < to->blocks; block += DEPTH / TSK) {
    float values[VALUES];
    load_values(values, source, block * TSK, in_vectors, item);
    split_values(to, values, scale, inexact, block, strip, along_k, item);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (chunk_column(item, along_k) == 0) {
    const int row = chunk_row(item, along_k);
    to->row_scales[row] = inexact[row] ? SCALE_OF_INEXACT : scale;
  }
  for (int block = (int)item; strip == 0 && block < to->blocks; block += WORK_ITEMS) {
    to->scales[block] = source->none ? SCALE_OF_NONE : 1.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
split(ARGUMENTS(SplitArguments), const __global float* A, const __global long* a_table,
      __global uint* a_terms, const __global float* B, const __global long* b_table, __global uint* b_terms,
      __global uint* counters_at, const __global int* tiles_at) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(SplitArguments);
  __local uint shared[BY_ROWS ? WORK_ITEMS + ROWS : SUB_GROUPS];
  __local int inexact[BY_ROWS ? ROWS : 1];
  uint item = get_local_id(0);
  const int blocks = (int)((p.depth + TSK - 1) / TSK);
  const int each = (int)p.blocks_of_group;
  const uint groups_of_panel = BY_ROWS ? STRIPS : (blocks + each - 1) / each;
  const uint of_first = (uint)p.a.panels * groups_of_panel;
  const bool is_first = (uint)get_group_id(0) < of_first;
  const uint group = (uint)get_group_id(0) - (is_first ? 0 : of_first);
  const long members = is_first ? p.a.members : p.b.members;
  const uint panels = (uint)(is_first ? p.a.panels : p.b.panels);
  int panel = (int)(BY_ROWS ? group / STRIPS : group % panels);
  int part = (int)(BY_ROWS ? group % STRIPS : group / panels);  // a strip of the panel, or blocks

  if (p.counters > 0 && get_group_id(1) == 0) {
    for (long i = get_group_id(0) * WORK_ITEMS + item; i < p.counters; i += get_num_groups(0) * WORK_ITEMS) {
      counters_at[p.counters_offset + i] = 0;
    }
  }
  for (long member = get_group_id(1); member < members; member += get_num_groups(1)) {
    // Compilers would carry what follows from these over from member to member, and spill.
    OPAQUE(item);
    OPAQUE(panel);
    OPAQUE(part);
    struct Source source;
    Destination to;
    const int strip = BY_ROWS ? part : 0;
    if (is_first) {
      find_panel(&source, A, MEMBER_ELEMENT(A, p.a.x, a_table, member, p.a.type), &p.a, p.depth, panel, 0);
      find_destination(&to, a_terms + p.a.y_offset, &p.a, member, panel, strip, blocks);
    } else {
      find_panel(&source, B, MEMBER_ELEMENT(B, p.b.x, b_table, member, p.b.type), &p.b, p.depth, panel,
                 group_tiles_at(tiles_at, p.tiles_offset));
      find_destination(&to, b_terms + p.b.y_offset, &p.b, member, panel, strip, blocks);
    }
    source.first += strip * ROWS * source.row_step;
    source.rows -= strip * ROWS;
    if (BY_ROWS) {
      split_rows(&source, &to, strip, shared, inexact, item);
    } else {
      split_blocks(&source, &to, part * each, LEAST((part + 1) * each, blocks), shared, inexact, item);
    }
  }
}
