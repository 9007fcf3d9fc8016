// Pads and transposes in one pass: what pad.cl and transpose.cl do, with one read and one write of the
// matrix.
//
// In is rows x cols with leading dimension ld; Out is padded_rows x padded_cols, packed, and holds In
// transposed (so padded_rows >= cols) with `fill` around it. All column-major. Work-group (x, y) writes the
// tile of Out at (x, y).

#ifndef BLOCK
#define BLOCK 16  // tile of BLOCK x BLOCK elements: 1 8 16 32
#endif

#include "dialect.h"

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) void
pad_transpose(const int rows, const int cols, const int ld, const __global float* In, const int padded_rows,
              const int padded_cols, const float fill, __global float* Out) {
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int out_row = BLOCK * get_group_id(0);
  const int out_col = BLOCK * get_group_id(1);
  __local float tile[BLOCK][BLOCK + 1];

  const int in_row = out_col + x;
  const int in_col = out_row + y;
  tile[y][x] = (in_row < rows && in_col < cols) ? In[in_col * ld + in_row] : fill;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (out_row + x < padded_rows && out_col + y < padded_cols) {
    Out[(out_col + y) * padded_rows + out_row + x] = tile[x][y];
  }
}
