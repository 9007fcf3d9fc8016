// Rung 4: wider data types.
//
// The matrices are read as vectors of WIDTH floats down a column: one load instruction moves WIDTH values,
// and a work-item computes WIDTH rows of one column. Against rung 3 it is the value of B that is reused in a
// register.
//
// M, N and K are multiples of TS. Rows are counted in vectors below: row, M / WIDTH and K / WIDTH.

#ifndef TS
#define TS 32  // work-group tile, TS x TS elements of C: 8 16 32
#endif
#ifndef WIDTH
#define WIDTH 4  // floats per load, and rows of C per work-item: 1 2 4 8
#endif

#include "dialect.h"
#include "update.h"

#define floatX FLOAT(WIDTH)
#define vstoreX VSTORE(WIDTH)

__kernel __attribute__((reqd_work_group_size(TS / WIDTH, TS, 1))) void
wide(const int M, const int N, const int K, const float alpha, const __global floatX* A,
     const __global floatX* B, const float beta, __global floatX* C) {
  const int row = get_local_id(0);
  const int col = get_local_id(1);
  const int global_row = (TS / WIDTH) * get_group_id(0) + row;
  const int global_col = TS * get_group_id(1) + col;
  __local floatX Asub[TS][TS / WIDTH];  // [k][m]
  __local floatX Bsub[TS][TS / WIDTH];  // [n][k]

  floatX acc = (floatX)(0.0f);
  for (int tile = 0; tile < K; tile += TS) {
    Asub[col][row] = A[(tile + col) * (M / WIDTH) + global_row];
    Bsub[col][row] = B[global_col * (K / WIDTH) + tile / WIDTH + row];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int k = 0; k < TS; k += WIDTH) {
      float b[WIDTH];
      vstoreX(Bsub[col][k / WIDTH], 0, b);
#pragma unroll
      for (int w = 0; w < WIDTH; ++w) {
        acc = fma(Asub[k + w][row], (floatX)(b[w]), acc);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UPDATE(floatX, C[global_col * (M / WIDTH) + global_row], alpha, acc, beta);
}
