// Measures how fast the device can do fused multiply-adds: independent chains in registers and nothing else.
// Each work-item does 128 * rounds of them. The result is stored so that the work cannot be left out.

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 1 64 128 256
#endif

#include "dialect.h"

#define CHAINS 8

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
peak(const int rounds, const float factor, const float addend, __global float* Out) {
  // What is the same for all work-items, a compiler for Vulkan may read anew for every multiply-add.
  const float own_factor = factor - 1e-6f * (float)get_local_id(0);
  const float own_addend = addend - 1e-6f * (float)get_local_id(0);
  float16 acc[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) {
    acc[i] = (float16)(own_factor * (float)(i + 1));
  }
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) {
      acc[i] = fma(acc[i], (float16)(own_factor), (float16)(own_addend));
    }
  }
#pragma unroll
  for (int i = 1; i < CHAINS; ++i) {
    acc[0] = acc[0] + acc[i];
  }
  float values[16];
  vstore16(acc[0], 0, values);
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    total += values[i];
  }
  Out[get_global_id(0)] = total;
}
