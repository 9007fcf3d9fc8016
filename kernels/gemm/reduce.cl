// C <- alpha (P0 + P1 + ...) + beta C: ends a multiplication whose K was split into slices. It adds up the
// partial sums in an order that depends on nothing but their number and ITEMS, so that the same call gives
// the same bits.
//
// P holds the sums of `slices` slices for each member of the batch, each M x N with leading dimension ldp and
// right behind each other. C is M x N, column-major. Offsets, stride and leading dimensions in elements.
//
// A work-group has GROUP / ITEMS elements, numbered down the columns in one dimension, whose limit is 2^31
// work-groups. ITEMS work-items share an element: each takes every ITEMS-th slice. Work-groups in the second
// dimension walk over the batch.

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 64 128 256
#endif
#ifndef ITEMS
#define ITEMS 1  // work-items per element: 1 8 32
#endif

#include "dialect.h"
#include "gemm/column.h"
#include "update.h"

#define ELEMENTS (GROUP / ITEMS)

#define REDUCTION(POINTER, LONG, SINGLE) \
  LONG(M)                                \
  LONG(N)                                \
  LONG(slices)                            \
  POINTER(const __global float, P)       \
  LONG(p_offset)                         \
  LONG(ldp)                              \
  SINGLE(alpha)                          \
  SINGLE(beta)                           \
  POINTER(__global float, C)             \
  LONG(c_offset)                         \
  LONG(ldc)                              \
  LONG(c_stride)                         \
  LONG(batch)
NUMBERS_OF(REDUCTION);

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce(PARAMETERS(REDUCTION)) {
  AWAIT_STEP_BEFORE();
  NUMBERS(REDUCTION);
  const int tid = get_local_id(0);
  const int slice = tid / ELEMENTS;
  const long size = p.M * p.N;
  const long element = (long)get_group_id(0) * ELEMENTS + tid % ELEMENTS;
  const long col = column_of(element, p.M, size);
  const long row = element - col * p.M;
  const long slice_size = p.ldp * p.N;
  __global float* c = C + p.c_offset + col * p.ldc + row;
#if ITEMS > 1
  __local float sums[GROUP];
#endif
  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    float sum = 0.0f;
    if (element < size) {
      const __global float* term =
          P + p.p_offset + (member * p.slices + slice) * slice_size + col * p.ldp + row;
      sum = slice < p.slices ? *term : 0.0f;
#pragma unroll 4
      for (long i = slice + ITEMS; i < p.slices; i += ITEMS) {
        term += ITEMS * slice_size;
        sum += *term;
      }
    }
#if ITEMS > 1
    sums[tid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0) {
      for (int i = 1; i < ITEMS; ++i) {
        sum += sums[i * ELEMENTS + tid];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (slice == 0 && element < size) {
      UPDATE(float, c[member * p.c_stride], p.alpha, sum, p.beta);
    }
  }
}
