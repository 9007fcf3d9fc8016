// C <- alpha (P0 + P1 + ...) + beta C: ends a multiplication whose K was split, adding the parts in an order
// that depends on nothing but their number and SLICES, so that the same call gives the same bits.
//
// P holds `parts` matrices for each member of the batch, each M x N with leading dimension ldp and right
// behind each other; C is M x N, column-major. Offset, stride and leading dimensions in elements. GROUP /
// SLICES elements per work-group, numbered down the columns in one dimension, whose limit is 2^31
// work-groups; SLICES work-items share an element and take every SLICES-th part. Work-groups in the second
// dimension walk over the batch.

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 64 128 256
#endif
#ifndef SLICES
#define SLICES 1  // work-items per element: 1 8 32
#endif

#include "dialect.h"
#include "gemm/column.h"
#include "update.h"

#define ELEMENTS (GROUP / SLICES)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce(const long M, const long N, const long parts, const __global float* P, const long ldp,
       const float alpha, const float beta, __global float* C, const long c_offset, const long ldc,
       const long c_stride, const long batch) {
  AWAIT_STEP_BEFORE();
  const int tid = get_local_id(0);
  const int slice = tid / ELEMENTS;
  const long size = M * N;
  const long element = (long)get_group_id(0) * ELEMENTS + tid % ELEMENTS;
  const long col = column_of(element, M, size);
  const long row = element - col * M;
  const long part_size = ldp * N;
  __global float* c = C + c_offset + col * ldc + row;
#if SLICES > 1
  __local float sums[GROUP];
#endif
  for (long member = get_group_id(1); member < batch; member += get_num_groups(1)) {
    float sum = 0.0f;
    if (element < size) {
      const __global float* part = P + (member * parts + slice) * part_size + col * ldp + row;
      sum = slice < parts ? *part : 0.0f;
#pragma unroll 4
      for (long i = slice + SLICES; i < parts; i += SLICES) {
        part += SLICES * part_size;
        sum += *part;
      }
    }
#if SLICES > 1
    sums[tid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0) {
      for (int i = 1; i < SLICES; ++i) {
        sum += sums[i * ELEMENTS + tid];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (slice == 0 && element < size) {
      UPDATE(float, c[member * c_stride], alpha, sum, beta);
    }
  }
}
