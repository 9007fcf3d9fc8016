// Copies a matrix into the corner of a larger one and fills the rest.
//
// The fill is -0 for A and +0 for B: their product is -0, and x + -0 is x for every x, +0, -0 and NaN
// included. So a chain of multiply-adds that runs on into the padding keeps its bits; with +0 on both sides,
// a -0 would turn into +0.
//
// In is rows x cols with leading dimension ld; Out is padded_rows x padded_cols, packed. All column-major.

#ifndef BLOCK
#define BLOCK 16  // work-group of BLOCK x BLOCK elements: 8 16 32
#endif

#include "dialect.h"

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) void
pad(const int rows, const int cols, const int ld, const __global float* In, const int padded_rows,
    const int padded_cols, const float fill, __global float* Out) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);
  if (row < padded_rows && col < padded_cols) {
    Out[col * padded_rows + row] = (row < rows && col < cols) ? In[col * ld + row] : fill;
  }
}
