// Removes padding: takes the rows x cols corner of a padded product into C, as C <- alpha * In + beta * C.
//
// Alpha and beta are applied here and not by the multiplication before, so that C need not be padded as well.
// In is packed with padded_rows rows; C has leading dimension ld. All column-major.

#ifndef BLOCK
#define BLOCK 16  // work-group of BLOCK x BLOCK elements: 8 16 32
#endif

#include "dialect.h"
#include "update.h"

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) void
unpad(const int rows, const int cols, const int padded_rows, const float alpha, const __global float* In,
      const float beta, const int ld, __global float* C) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);
  if (row < rows && col < cols) {
    UPDATE(float, C[col * ld + row], alpha, In[col * padded_rows + row], beta);
  }
}
