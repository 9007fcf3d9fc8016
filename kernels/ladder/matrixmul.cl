// For comparison: the matrix product that NVIDIA's samples teach with (CUDA C++ Programming Guide, "Shared
// Memory").
//
// Row-major, with dimension 0 of the work-items along a row: work-groups of BLOCK x BLOCK walk over tiles of
// A and B in local memory. The idea is rung 2's, in the other storage order.
//
// A is M x K, B is K x N, C is M x N, all row-major; M, N and K are multiples of BLOCK.

#ifndef BLOCK
#define BLOCK 16  // work-group tile, BLOCK x BLOCK elements of C: 4 8 16 32
#endif

#include "dialect.h"
#include "update.h"

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1))) void
matrixmul(const int M, const int N, const int K, const float alpha, const __global float* A,
          const __global float* B, const float beta, __global float* C) {
  const int col = get_local_id(0);
  const int row = get_local_id(1);
  const int global_col = BLOCK * get_group_id(0) + col;
  const int global_row = BLOCK * get_group_id(1) + row;
  // Aligned, so that a compiler can load four neighbours along k at once.
  __local __attribute__((aligned(16))) float Asub[BLOCK][BLOCK];  // [m][k]
  __local __attribute__((aligned(16))) float Bsub[BLOCK][BLOCK];  // [k][n]

  float acc = 0.0f;
  for (int tile = 0; tile < K; tile += BLOCK) {
    Asub[row][col] = A[global_row * K + tile + col];
    Bsub[row][col] = B[(tile + row) * N + global_col];
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
    for (int k = 0; k < BLOCK; ++k) {
      acc = fma(Asub[row][k], Bsub[k][col], acc);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UPDATE(float, C[global_row * N + global_col], alpha, acc, beta);
}
