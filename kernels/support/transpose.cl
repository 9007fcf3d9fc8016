// Transposes a matrix by way of a tile in local memory, so that both the loads and the stores run along
// columns. The tile has one column more than it uses: its rows then lie in different banks.
//
// In is rows x cols, Out is cols x rows, both packed and column-major; rows and cols are multiples of BLOCK.

#ifndef BLOCK
#define BLOCK 16  // tile of BLOCK x BLOCK elements: 1 8 16 32
#endif

#include "dialect.h"

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) void
transpose(const int rows, const int cols, const __global float* In, __global float* Out) {
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int row = BLOCK * get_group_id(0);
  const int col = BLOCK * get_group_id(1);
  __local float tile[BLOCK][BLOCK + 1];

  tile[y][x] = In[(col + y) * rows + row + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  Out[(row + y) * cols + col + x] = tile[x][y];
}
