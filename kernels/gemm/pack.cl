// Copies op(A), op(B) or both, or what they are the transposes of, so that their columns begin at multiples
// of 16 bytes: what a kernel reads many times over is worth a pass that lets it read vectors along m and n.
//
// Operand 0 is copied by as many work-groups as it has tiles, the first ones, and operand 1 by the others. X
// has `rows` x `cols` elements, or `cols` x `rows` when it is to be transposed, and leading dimension ldx; Y
// has `rows` x `cols` and leading dimension ldy, which may be longer: what lies beyond `rows` is set to zero.
// Offsets, strides and leading dimensions in elements, column-major. Each work-group copies TILE x TILE
// elements, through local memory when it transposes them, so that it reads and writes along columns.
// Work-groups in the second dimension walk over the `copies` of an operand that there are in a batch.

#ifndef TRANS_0
#define TRANS_0 0  // whether operand 0 is transposed: 0 1
#endif
#ifndef TRANS_1
#define TRANS_1 0  // whether operand 1 is transposed: 0 1
#endif
#ifndef TILE
#define TILE 32  // rows and columns per work-group: 16 32
#endif
#ifndef LINES
#define LINES 4  // columns at once: 4 8
#endif

#include "dialect.h"

// One operand: what it is copied from, and where to.
#define COPIED(POINTER, LONG, i)       \
  LONG(rows_##i)                       \
  POINTER(const __global float, X_##i) \
  LONG(x_offset_##i)                   \
  LONG(ldx_##i)                        \
  LONG(x_stride_##i)                   \
  POINTER(__global float, Y_##i)       \
  LONG(y_offset_##i)                   \
  LONG(ldy_##i)                        \
  LONG(y_stride_##i)                   \
  LONG(copies_##i)
#define PACKING(POINTER, LONG, SINGLE) LONG(cols) COPIED(POINTER, LONG, 0) COPIED(POINTER, LONG, 1)
NUMBERS_OF(PACKING);

__kernel __attribute__((reqd_work_group_size(TILE, LINES, 1))) void
pack(PARAMETERS(PACKING)) {
  NUMBERS(PACKING);
  const uint tiles_along_cols = (uint)((p.cols + TILE - 1) / TILE);
  const uint tiles_0 = (uint)((p.ldy_0 + TILE - 1) / TILE) * tiles_along_cols;
  const bool first = (uint)get_group_id(0) < tiles_0;
  const uint group = (uint)get_group_id(0) - (first ? 0 : tiles_0);
  const long rows = first ? p.rows_0 : p.rows_1;
  const long ldx = first ? p.ldx_0 : p.ldx_1;
  const long ldy = first ? p.ldy_0 : p.ldy_1;
  const long copies = first ? p.copies_0 : p.copies_1;
  const __global float* X = first ? X_0 + p.x_offset_0 : X_1 + p.x_offset_1;
  __global float* Y = first ? Y_0 + p.y_offset_0 : Y_1 + p.y_offset_1;
  const bool transpose = first ? TRANS_0 : TRANS_1;
  const uint tiles = (uint)((ldy + TILE - 1) / TILE);
  const long first_row = (long)(group % tiles) * TILE;
  const long first_col = (long)(group / tiles) * TILE;
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  // X is read along its columns: `place` is where this work-item is in one, and `line` is its first.
  const long line = (transpose ? first_row : first_col) + y;
  const long place = (transpose ? first_col : first_row) + x;
  const long lines = place < (transpose ? p.cols : rows) ? (transpose ? rows : p.cols) : 0;
  __local float tile[TILE][TILE + 1];

  for (long copy = get_group_id(1); copy < copies; copy += get_num_groups(1)) {
    const __global float* from = X + copy * (first ? p.x_stride_0 : p.x_stride_1) + line * ldx + place;
    __global float* to =
        Y + copy * (first ? p.y_stride_0 : p.y_stride_1) + (first_col + y) * ldy + first_row + x;
    float values[TILE / LINES];
#pragma unroll
    for (int i = 0; i < TILE / LINES; ++i) {
      values[i] = line + i * LINES < lines ? from[i * LINES * ldx] : 0.0f;
    }
    if (transpose) {
#pragma unroll
      for (int i = 0; i < TILE / LINES; ++i) {
        tile[y + i * LINES][x] = values[i];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (int i = 0; i < TILE / LINES; ++i) {
        values[i] = tile[x][y + i * LINES];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (int i = 0; i < TILE / LINES; ++i) {
      if (first_row + x < ldy && first_col + y + i * LINES < p.cols) {
        to[i * LINES * ldy] = values[i];
      }
    }
  }
}
