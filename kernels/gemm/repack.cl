// Copies a matrix, or its transpose, so that its columns begin at multiples of 16 bytes: what a kernel reads
// many times over is worth a pass that lets it read vectors along m or n.
//
// X has `rows` x `cols` elements, or `cols` x `rows` when TURN, and leading dimension ldx; Y has `rows` x
// `cols` and leading dimension ldy, which may be longer: what lies beyond `rows` is set to zero. Offset,
// strides and leading dimensions in elements, column-major. Each work-group copies TILE x TILE elements,
// through local memory when it turns them, so that it reads and writes along columns; work-groups in the
// second dimension walk over the batch.

#ifndef TURN
#define TURN 0  // whether X is transposed: 0 1
#endif
#ifndef TILE
#define TILE 32  // rows and columns per work-group: 16 32
#endif
#ifndef LINES
#define LINES 8  // columns at once: 4 8
#endif

#include "dialect.h"

__kernel __attribute__((reqd_work_group_size(TILE, LINES, 1))) void
repack(const long rows, const long cols, const __global float* X, const long x_offset, const long ldx,
       const long x_stride, __global float* Y, const long ldy, const long y_stride, const long batch) {
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const long tiles = (ldy + TILE - 1) / TILE;
  const long first_row = (long)get_group_id(0) % tiles * TILE;
  const long first_col = (long)get_group_id(0) / tiles * TILE;
  __local float tile[TILE][TILE + 1];

  for (long member = get_group_id(1); member < batch; member += get_num_groups(1)) {
    const __global float* from = X + x_offset + member * x_stride;
    __global float* to = Y + member * y_stride;
    if (TURN) {
      for (int line = y; line < TILE; line += LINES) {
        const long row = first_row + line;
        const long col = first_col + x;
        tile[line][x] = row < rows && col < cols ? from[row * ldx + col] : 0.0f;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int line = y; line < TILE; line += LINES) {
      const long row = first_row + x;
      const long col = first_col + line;
      if (row < ldy && col < cols) {
        to[col * ldy + row] = TURN ? tile[x][line] : (row < rows ? from[col * ldx + row] : 0.0f);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
