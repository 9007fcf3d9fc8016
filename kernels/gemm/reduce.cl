// D <- alpha (P0 + P1 + ...) + beta C: ends a multiplication whose k was split. It adds up the partial sums
// in ascending order, so that the bits depend on nothing but where k was split.
//
// A work-group has GROUP / ITEMS elements, numbered down the columns in one dimension, whose limit is 2^31
// work-groups. ITEMS work-items share an element: each loads every ITEMS-th partial sum, and one adds them
// up. Work-groups in the second dimension walk over the batch.
//
// device: starts_early

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 64 128 256
#endif
#ifndef ITEMS
#define ITEMS 1  // work-items per element: 1 8 32
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "update.h"

// Terms of a work-item that are on their way at once, for which RESIDENT leaves registers enough.
enum { ELEMENTS = GROUP / ITEMS, AT_ONCE = 8, TERMS = AT_ONCE * ITEMS, RESIDENT = 1024 / GROUP };

__kernel __attribute__((work_group(GROUP, RESIDENT))) void
reduce(ARGUMENTS(ReduceArguments), const __global float* P, const __global float* C, __global float* D) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(ReduceArguments);
  const int tid = get_local_id(0);
  const int split = tid / ELEMENTS;
  const long size = p.M * p.N;
  const long element = (long)get_group_id(0) * ELEMENTS + tid % ELEMENTS;
  const long col = column_of_element(element, p.M, size);
  const long row = element - col * p.M;
  const long split_size = p.ldp * p.N;
  const __global float* c = C + p.c.offset + col * p.c.ld + row;
  __global float* d = D + p.d.offset + col * p.d.ld + row;
#if ITEMS > 1
  __local float shared[TERMS * ELEMENTS];
#endif
  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    float sum = -0.0f;  // which changes no sum
    const __global float* term =
        P + p.p_offset + (member * p.splits + split) * split_size + col * p.ldp + row;
#pragma unroll 1
    for (long i = split; i - split < p.splits; i += TERMS) {
      float terms[AT_ONCE];
#pragma unroll
      for (int t = 0; t < AT_ONCE; ++t) {
        terms[t] = element < size && i + t * ITEMS < p.splits ? *term : -0.0f;
        term += ITEMS * split_size;
      }
#if ITEMS > 1
#pragma unroll
      for (int t = 0; t < AT_ONCE; ++t) {
        shared[t * GROUP + tid] = terms[t];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      if (split == 0) {
#pragma unroll 32
        for (int t = 0; t < TERMS; ++t) {
          sum += shared[t * ELEMENTS + tid];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#else
#pragma unroll
      for (int t = 0; t < AT_ONCE; ++t) {
        sum += terms[t];
      }
#endif
    }
    if (split == 0 && element < size) {
      UPDATE_FROM(float, d[member * p.d.stride], p.alpha, sum, p.beta, c[member * p.c.stride]);
    }
  }
}
