// Rung 1: one work-item per element of C.
//
// The definition of a matrix product, written down. Work-items that are neighbours in M read neighbouring
// elements of A and the same element of B, so the loads coalesce, but nothing is kept: every multiply-add
// loads two values.
//
// Column-major: A is M x K, B is K x N, C is M x N. Dimension 0 of the work-items is M, dimension 1 is N.

#ifndef TS
#define TS 32  // work-group tile, TS x TS elements of C: 4 8 16 32 64 128
#endif

#include "dialect.h"
#include "update.h"

__kernel __attribute__((reqd_work_group_size(TS, TS, 1))) void
naive(const int M, const int N, const int K, const float alpha, const __global float* A,
      const __global float* B, const float beta, __global float* C) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);
  if (row >= M || col >= N) {
    return;
  }
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) {
    acc = fma(A[k * M + row], B[col * K + k], acc);
  }
  UPDATE(float, C[col * M + row], alpha, acc, beta);
}
