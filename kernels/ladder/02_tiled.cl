// Rung 2: tiles of A and B in local memory.
//
// The TS x TS work-items of a work-group need only TS rows of A and TS columns of B. They load them together,
// one tile of each at a time, and every loaded value is then used TS times: global traffic falls by a factor
// of TS.
//
// M, N and K are multiples of TS.

#ifndef TS
#define TS 32  // work-group tile, TS x TS elements of C: 4 8 16 32
#endif

#include "dialect.h"
#include "update.h"

__kernel __attribute__((reqd_work_group_size(TS, TS, 1))) void
tiled(const int M, const int N, const int K, const float alpha, const __global float* A,
      const __global float* B, const float beta, __global float* C) {
  const int row = get_local_id(0);
  const int col = get_local_id(1);
  const int global_row = TS * get_group_id(0) + row;
  const int global_col = TS * get_group_id(1) + col;
  // Aligned, so that a compiler can load four neighbours along k at once.
  __local __attribute__((aligned(16))) float Asub[TS][TS];  // [k][m]
  __local __attribute__((aligned(16))) float Bsub[TS][TS];  // [n][k]

  float acc = 0.0f;
  for (int tile = 0; tile < K; tile += TS) {
    Asub[col][row] = A[(tile + col) * M + global_row];
    Bsub[col][row] = B[global_col * K + tile + row];
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 8
    for (int k = 0; k < TS; ++k) {
      acc = fma(Asub[k][row], Bsub[col][k], acc);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UPDATE(float, C[global_col * M + global_row], alpha, acc, beta);
}
