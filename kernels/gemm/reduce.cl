// C <- alpha (P0 + P1 + ...) + beta C: ends a multiplication whose K was split, adding the parts in their
// order, so that the same call gives the same bits.
//
// P holds `parts` matrices for each member of the batch, each M x N and packed; C is M x N, column-major.
// Offset, stride and leading dimension in elements. One work-item per element, numbered down the columns in
// one dimension, whose limit is 2^31 work-groups; the batch is walked over in another.

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 64 128 256
#endif

#include "dialect.h"
#include "update.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce(const long M, const long N, const long parts, const __global float* P, const float alpha,
       const float beta, __global float* C, const long c_offset, const long ldc, const long c_stride,
       const long batch) {
  const long element = (long)get_group_id(0) * GROUP + get_local_id(0);
  if (element >= M * N) {
    return;
  }
  for (long member = get_group_id(1); member < batch; member += get_num_groups(1)) {
    const __global float* part = P + member * parts * (M * N) + element;
    float sum = *part;
    for (long i = 1; i < parts; ++i) {
      sum += part[i * (M * N)];
    }
    UPDATE(float, C[c_offset + member * c_stride + (element / M) * ldc + element % M], alpha, sum, beta);
  }
}
