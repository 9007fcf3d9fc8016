// Rung 3: more work per work-item, one strip of columns.
//
// In rung 2 each multiply-add still loads two values from local memory. Here a work-item computes WPT columns
// of one row: the value of A stays in a register for WPT multiply-adds, so the loads per multiply-add fall
// from 2 to 1 + 1/WPT.
//
// M, N and K are multiples of TS. A work-item's columns stand RTS = TS / WPT apart.

#ifndef TS
#define TS 32  // work-group tile, TS x TS elements of C: 8 16 32
#endif
#ifndef WPT
#define WPT 8  // columns of C per work-item: 1 2 4 8 16
#endif

#include "dialect.h"
#include "update.h"

#define RTS (TS / WPT)

__kernel __attribute__((reqd_work_group_size(TS, RTS, 1))) void
strip(const int M, const int N, const int K, const float alpha, const __global float* A,
      const __global float* B, const float beta, __global float* C) {
  const int row = get_local_id(0);
  const int col = get_local_id(1);
  const int global_row = TS * get_group_id(0) + row;
  const int global_col = TS * get_group_id(1) + col;
  // Aligned, so that a compiler can load four neighbours along k at once.
  __local __attribute__((aligned(16))) float Asub[TS][TS];  // [k][m]
  __local __attribute__((aligned(16))) float Bsub[TS][TS];  // [n][k]

  float acc[WPT];
#pragma unroll
  for (int w = 0; w < WPT; ++w) {
    acc[w] = 0.0f;
  }

  for (int tile = 0; tile < K; tile += TS) {
#pragma unroll
    for (int w = 0; w < WPT; ++w) {
      const int line = col + w * RTS;
      Asub[line][row] = A[(tile + line) * M + global_row];
      Bsub[line][row] = B[(global_col + w * RTS) * K + tile + row];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 8
    for (int k = 0; k < TS; ++k) {
      const float a = Asub[k][row];
#pragma unroll
      for (int w = 0; w < WPT; ++w) {
        acc[w] = fma(a, Bsub[col + w * RTS][k], acc[w]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int w = 0; w < WPT; ++w) {
    UPDATE(float, C[(global_col + w * RTS) * M + global_row], alpha, acc[w], beta);
  }
}
