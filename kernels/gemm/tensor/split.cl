// Splits the values of A and B into pieces for tensor cores (see pieces.h).
//
//   a block of X, PANEL x TSK  -->  registers: a work-item has 8 neighbours along k of a few rows
//                              -->  the largest of all, which gives the scale
//                              -->  pieces, in local memory, as images
//                              -->  global memory, from one end to the other
//
// The matrix X has `rows` rows (m of A, n of B) and `depth` columns (k), of which neighbours stand row_step
// and k_step apart: one of the two is 1. What lies beyond them is zero. The first work-groups have operand 0,
// the others operand 1; one has one block. Those in the second dimension walk over the members of the batch.

#ifndef BF16X6
#define BF16X6 0  // pieces are two FP16 or three BF16 numbers: 0 1
#endif
#ifndef TSK
#define TSK 64  // block along k: 32 64
#endif
#ifndef RESIDENT
#define RESIDENT 2  // work-groups that should fit on a multiprocessor, see dialect.h: 1 2 3
#endif

#define ASYNC 0
#include "dialect.h"
#include "gemm/batch.h"
#include "gemm/least.h"
#include "gemm/tensor/arguments.h"
#include "warpgroups.h"

#include "gemm/tensor/pieces.h"

#define TOLERANCE (BF16X6 ? 0.0f : 0x1p-23f)  // what pieces may lack of a value, relative to it
#define WORK_ITEMS 512
#define CHUNKS (TSK / 8)                    // of a row
#define ROWS (PANEL * CHUNKS / WORK_ITEMS)  // chunks of a work-item
#define VALUES (8 * ROWS)

// Blocks whose largest value is outside of 2^-48 to 2^48 are none that pieces hold: so products of scales,
// and sums of products, stay within FP32.
#define EXPONENT_BIAS 127
#define FARTHEST_EXPONENT 48
#define LARGEST_EXPONENT 14  // of the scaled values

NUMBERS_OF(SPLITTING);

struct Source {
  const __global float* first;  // of the block
  long row_step;
  long k_step;
  int rows;   // that are there, from the block's first on
  int depth;  // the same along k
};

// Which chunk of the block a work-item's i-th is: neighbours read what stands beside in memory.
FUNCTION int chunk_row(const int item, const int i, const bool along_k) {
  return along_k ? (i * WORK_ITEMS + item) / CHUNKS : item % PANEL;
}
FUNCTION int chunk_column(const int item, const int i, const bool along_k) {
  return along_k ? item % CHUNKS : item / PANEL + i * (WORK_ITEMS / PANEL);
}

FUNCTION void load_chunk(float* to, const struct Source* source, const int row, const int column) {
  const __global float* from = source->first + row * source->row_step + column * 8 * source->k_step;
  const bool whole = row < source->rows && column * 8 + 8 <= source->depth;
  if (whole && source->k_step == 1 && (ulong)from % 16 == 0) {
    vstore4(*(const __global float4*)from, 0, to);
    vstore4(*(const __global float4*)(from + 4), 1, to);
  } else {
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      to[x] = row < source->rows && column * 8 + x < source->depth ? from[x * source->k_step] : 0.0f;
    }
  }
}

// The largest of all work-items' values, as bits.
FUNCTION uint largest(const float* values, LOCAL_PTR uint* shared, const int item) {
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
#pragma unroll
  for (int i = 0; i < WORK_ITEMS / 32; ++i) {
    most = max(most, shared[i]);
  }
  return most;
}

// Puts the pieces of a chunk into its place in each image, and answers whether they fail to hold its values.
FUNCTION bool split_chunk(LOCAL_PTR uint* images, float* values, const float scale, const int row,
                          const int column) {
  bool lacks = false;
  LOCAL_PTR uint* to = images + CHUNK_PLACE(row, column) / 4;
#pragma unroll
  for (int x = 0; x < 8; x += 2) {
    const float first = values[x] * scale;
    const float second = values[x + 1] * scale;
    float first_left = first;
    float second_left = second;
    float unit = 1.0f;
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece) {
      const uint pair = PACK(PIECE, first_left, second_left);
      to[piece * (IMAGE_BYTES / 4) + x / 2] = pair;
      first_left -= FIRST(PIECE, pair);
      second_left -= SECOND(PIECE, pair);
      if (piece < PIECES - 1) {
        first_left *= NEXT_PIECE_SCALE;
        second_left *= NEXT_PIECE_SCALE;
        unit *= NEXT_PIECE_SCALE;
      }
    }
    lacks |= !(fabs(first_left) <= fabs(first) * (TOLERANCE * unit) &&
               fabs(second_left) <= fabs(second) * (TOLERANCE * unit));
  }
  return lacks;
}

FUNCTION void split_block(const struct Source* source, __global uint* to, __global float* scale_place,
                          LOCAL_PTR uint* images, LOCAL_PTR uint* shared, const int item) {
  const bool along_k = source->k_step == 1;
  float values[VALUES];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    load_chunk(values + 8 * i, source, chunk_row(item, i, along_k), chunk_column(item, i, along_k));
  }
  const uint most = largest(values, shared, item);
  const int exponent = (int)(most >> 23);
  const bool far = most != 0 && (exponent < EXPONENT_BIAS - FARTHEST_EXPONENT ||
                                 exponent >= EXPONENT_BIAS + FARTHEST_EXPONENT);
  const int known = most == 0 || far ? EXPONENT_BIAS + LARGEST_EXPONENT : exponent;
  const float scale = AS_FLOAT((uint)(2 * EXPONENT_BIAS + LARGEST_EXPONENT - known) << 23);
  bool lacks = far;
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    lacks |= split_chunk(images, values + 8 * i, scale, chunk_row(item, i, along_k),
                         chunk_column(item, i, along_k));
  }
  const int any = ANY_IN_SUB_GROUP(lacks);
  if (item % 32 == 0) {
    shared[WORK_ITEMS / 32 + item / 32] = (uint)any;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int i = 0; i < BLOCK_BYTES / 16 / WORK_ITEMS; ++i) {
    const int v = i * WORK_ITEMS + item;
    *(__global uint4*)(to + 4 * v) = *(const LOCAL_PTR uint4*)(images + 4 * v);
  }
  if (item == 0) {
    uint lacking = 0;
    for (int i = 0; i < WORK_ITEMS / 32; ++i) {
      lacking |= shared[WORK_ITEMS / 32 + i];
    }
    *scale_place = lacking != 0 ? AS_FLOAT(0x7fffffffu) : AS_FLOAT((uint)(known - LARGEST_EXPONENT) << 23);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void split(PARAMETERS(SPLITTING)) {
  AWAIT_STEP_BEFORE();
  NUMBERS(SPLITTING);
  __local uint images[BLOCK_BYTES / 4] __attribute__((aligned(16)));
  __local uint shared[2 * WORK_ITEMS / 32];
  const int item = get_local_id(0);
  const int blocks = (int)((p.depth + TSK - 1) / TSK);
  const uint of_first = (uint)p.panels_0 * blocks;
  const bool is_first = (uint)get_group_id(0) < of_first;
  const uint group = (uint)get_group_id(0) - (is_first ? 0 : of_first);
  const long members = is_first ? p.members_0 : p.members_1;
  const long panels = is_first ? p.panels_0 : p.panels_1;
  const int panel = (int)(group % (uint)panels);
  const int block = (int)(group / (uint)panels);
  __global uint* Y = is_first ? Y_0 + p.y_offset_0 : Y_1 + p.y_offset_1;

  if (get_group_id(1) == 0) {
    for (long i = get_group_id(0) * WORK_ITEMS + item; i < p.counters; i += get_num_groups(0) * WORK_ITEMS) {
      Z[p.z_offset + i] = 0;
    }
  }
  for (long member = get_group_id(1); member < members; member += get_num_groups(1)) {
    const long row = (long)panel * PANEL;
    const long k = (long)block * TSK;
    struct Source source;
    source.row_step = is_first ? p.row_step_0 : p.row_step_1;
    source.k_step = is_first ? p.k_step_0 : p.k_step_1;
    source.rows = (int)LEAST((is_first ? p.rows_0 : p.rows_1) - row, PANEL);  // none where it is negative
    source.depth = (int)LEAST(p.depth - k, TSK);
    source.first = (is_first ? MEMBER(X_0, p.x_offset_0, p.x_stride_0, x_table_0, member)
                             : MEMBER(X_1, p.x_offset_1, p.x_stride_1, x_table_1, member)) +
                   row * source.row_step + k * source.k_step;
    split_block(&source, Y + ((member * blocks + block) * panels + panel) * (BLOCK_BYTES / 4),
                (__global float*)Y + SCALES_PLACE(members, member, panel, panels, (long)blocks) + block,
                images, shared, item);
  }
}
