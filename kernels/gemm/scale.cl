// C <- beta * C: what is left of a multiplication when alpha or K is zero. C is not read when beta is zero.
//
// C is M x N, column-major. Offset, stride and leading dimension in elements. Each work-item has WPT
// elements, GROUP apart; they are numbered down the columns in one dimension, whose limit is 2^31
// work-groups; the batch is walked over in another.

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 64 128 256
#endif
#ifndef WPT
#define WPT 4  // elements per work-item: 1 2 4 8
#endif

#include "dialect.h"
#include "gemm/batch.h"
#include "gemm/column.h"

#define SCALING(POINTER, LONG, SINGLE) \
  LONG(M) LONG(N) SINGLE(beta) MATRIX(POINTER, LONG, __global float, C, c) LONG(batch)
NUMBERS_OF(SCALING);

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scale(PARAMETERS(SCALING)) {
  NUMBERS(SCALING);
  const long size = p.M * p.N;
  const long first = (long)get_group_id(0) * (GROUP * WPT) + get_local_id(0);
  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    __global float* c = MEMBER(C, p.c_offset, p.c_stride, c_table, member);
#pragma unroll
    for (int i = 0; i < WPT; ++i) {
      const long element = first + i * GROUP;
      if (element < size) {
        const long col = column_of(element, p.M, size);
        __global float* at = c + col * p.ldc + (element - col * p.M);
        *at = p.beta == 0.0f ? 0.0f : p.beta * *at;
      }
    }
  }
}
