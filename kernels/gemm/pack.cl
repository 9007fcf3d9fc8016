// Copies op(A), op(B) or both, or what they are the transposes of, so that their columns begin at multiples
// of 16 bytes: what a kernel reads many times over is worth a pass that lets it read vectors along m and n.
// Operands of 16-bit elements become FP32.
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
#include "gemm/arguments.h"
#include "gemm/element.h"

__kernel __attribute__((reqd_work_group_size(TILE, LINES, 1))) void
pack(ARGUMENTS(PackArguments), const __global float* X_0, const __global long* x_table_0, __global float* Y_0,
     const __global float* X_1, const __global long* x_table_1, __global float* Y_1) {
  TAKE_ARGUMENTS(PackArguments);
  const uint tiles_0 = (uint)((p.first.y.ld + TILE - 1) / TILE) * (uint)((p.first.cols + TILE - 1) / TILE);
  const bool first = (uint)get_group_id(0) < tiles_0;
  const uint group = (uint)get_group_id(0) - (first ? 0 : tiles_0);
  const long rows = first ? p.first.rows : p.second.rows;
  const long cols = first ? p.first.cols : p.second.cols;
  const long ldx = first ? p.first.x.ld : p.second.x.ld;
  const long ldy = first ? p.first.y.ld : p.second.y.ld;
  const long copies = first ? p.first.copies : p.second.copies;
  const int type = (int)(first ? p.first.type : p.second.type);
  const __global float* X = first ? X_0 : X_1;
  __global float* Y = first ? Y_0 + p.first.y.offset : Y_1 + p.second.y.offset;
  const bool transpose = first ? TRANS_0 : TRANS_1;
  const uint tiles = (uint)((ldy + TILE - 1) / TILE);
  const long first_row = (long)(group % tiles) * TILE;
  const long first_col = (long)(group / tiles) * TILE;
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  // X is read along its columns: `place` is where this work-item is in one, and `line` is its first.
  const long line = (transpose ? first_row : first_col) + y;
  const long place = (transpose ? first_col : first_row) + x;
  const long lines = place < (transpose ? cols : rows) ? (transpose ? rows : cols) : 0;
  __local float tile[TILE][TILE + 1];

  for (long copy = get_group_id(1); copy < copies; copy += get_num_groups(1)) {
    const long from = (first ? MEMBER_ELEMENT(X_0, p.first.x, x_table_0, copy, type)
                             : MEMBER_ELEMENT(X_1, p.second.x, x_table_1, copy, type)) +
                      line * ldx + place;
    __global float* to =
        Y + copy * (first ? p.first.y.stride : p.second.y.stride) + (first_col + y) * ldy + first_row + x;
    float values[TILE / LINES];
#pragma unroll
    for (int i = 0; i < TILE / LINES; ++i) {
      values[i] = line + i * LINES < lines ? load_element(X, from + i * LINES * ldx, type) : 0.0f;
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
      if (first_row + x < ldy && first_col + y + i * LINES < cols) {
        to[i * LINES * ldy] = values[i];
      }
    }
  }
}
