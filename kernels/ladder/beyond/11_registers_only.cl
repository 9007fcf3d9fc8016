// Rung 11: no local memory at all.
//
// Each work-item reads its own 8 rows of A and 4 columns of B as vectors, directly into registers, and leaves
// it to the caches that neighbours read the same lines. No barrier, no tile to fill: 12 loaded values for 32
// multiply-adds.
//
// A is M x K, B is N x K; M is a multiple of 8 * WGM and N of 4 * WGN. M and N are counted in vectors below.

#ifndef WGM
#define WGM 8  // work-items in M: 4 8 16
#endif
#ifndef WGN
#define WGN 8  // work-items in N: 4 8 16
#endif

#include "dialect.h"
#include "update.h"

__kernel __attribute__((reqd_work_group_size(WGM, WGN, 1))) void
registers_only(const int M, const int N, const int K, const float alpha, const __global float8* A,
               const __global float4* B, const float beta, __global float8* C) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);

  float8 acc[4];
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    acc[n] = (float8)(0.0f);
  }

  for (int k = 0; k < K; ++k) {
    const float8 a = A[k * (M / 8) + row];
    const float4 b = B[k * (N / 4) + col];
    acc[0] = fma(a, (float8)(b.x), acc[0]);
    acc[1] = fma(a, (float8)(b.y), acc[1]);
    acc[2] = fma(a, (float8)(b.z), acc[2]);
    acc[3] = fma(a, (float8)(b.w), acc[3]);
  }

#pragma unroll
  for (int n = 0; n < 4; ++n) {
    UPDATE(float8, C[(col * 4 + n) * (M / 8) + row], alpha, acc[n], beta);
  }
}
