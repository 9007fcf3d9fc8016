// D <- f(alpha T + beta C + bias): what a multiplication leaves to do where more is asked than alpha A B +
// beta C, and all there is to do where alpha or K is zero.
//
// T, C and D are M x N, column-major; C or T may be D itself. A leading dimension of 0 repeats one column. C
// is not read when beta is zero, nor T when alpha is. alpha and beta are numbers or, where alpha_at and
// beta_at are given, in memory. C and D may have elements of 16 bits, to which the result is rounded once.
// The bias is a column. f is one of those that sgemm.hpp describes; a NaN becomes 0 by ReLU as in cuBLASLt.
//
// Offsets, strides and leading dimensions in elements. Each work-item has WPT elements, GROUP apart; they are
// numbered down the columns in one dimension, whose limit is 2^31 work-groups; the batch is walked over in
// another. On a CPU a work-group is one work-item, whose elements are neighbours.

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 1 64 128 256
#endif
#ifndef WPT
#define WPT 4  // elements per work-item: 1 2 4 8 8192
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/element.h"

enum { RELU = 1, GELU = 2, GELU_ERF = 3, SILU = 4 };

FUNCTION float
apply(const int function, const float x) {
  if (function == RELU) {
    return fmax(x, 0.0f);
  }
  if (function == GELU) {  // by the logistic function of 2 u, which is (1 + tanh u) / 2
    const float u = 0.797884561f * (x + 0.044715f * x * x * x);  // sqrt(2 / pi)
    return x / (1.0f + exp(-2.0f * u));
  }
  if (function == GELU_ERF) {
    return 0.5f * x * erfc(-0.707106781f * x);  // 1 + erf(y) is erfc(-y), which is exact below zero, too
  }
  if (function == SILU) {
    return x / (1.0f + exp(-x));
  }
  return x;
}

// Neighbours in a column become c_factor C alone, several at once, or zeros.
FUNCTION void
scale(__global float* d, const __global float* c, const long count, const float c_factor) {
  enum { AT_ONCE = 16 };
  long i = 0;
  if (c_factor == 0.0f) {
    for (; i < count; ++i) {
      d[i] = 0.0f;
    }
  }
  for (; i + AT_ONCE <= count; i += AT_ONCE) {
    float values[AT_ONCE];
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) {
      values[j] = c[i + j];
    }
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) {
      d[i + j] = c_factor * values[j];
    }
  }
  for (; i < count; ++i) {
    d[i] = c_factor * c[i];
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
finish(ARGUMENTS(FinishArguments), const __global float* T, const __global long* t_table,
       const __global float* C, const __global long* c_table, __global float* D, const __global long* d_table,
       const __global float* alpha_at, const __global float* beta_at, const __global float* bias) {
  TAKE_ARGUMENTS(FinishArguments);
  const float t_factor = alpha_at == 0 ? p.alpha : *alpha_at;
  const float c_factor = beta_at == 0 ? p.beta : *beta_at;
  const int type = (int)p.type;
  const long size = p.M * p.N;
  const long first = (long)get_group_id(0) * (GROUP * WPT) + get_local_id(0);
  const long end = LEAST(first + GROUP * WPT, size);
  enum { UNROLLED = WPT > 8 ? 1 : WPT };
  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* t = MEMBER(T, p.t, t_table, member);
    const long c = MEMBER_ELEMENT(C, p.c, c_table, member, type);
    const long d = MEMBER_ELEMENT(D, p.d, d_table, member, type);
    if (GROUP == 1 && t_factor == 0.0f && bias == 0 && p.function == 0 && type == FP32_ELEMENTS) {
      for (long element = first; element < end;) {
        const long col = column_of_element(element, p.M, size);
        const long row = element - col * p.M;
        const long count = LEAST(p.M - row, end - element);
        scale(D + d + col * p.d.ld + row, C + c + col * p.c.ld + row, count, c_factor);
        element += count;
      }
      continue;
    }
#pragma unroll UNROLLED
    for (int i = 0; i < WPT; ++i) {
      const long element = first + i * GROUP;
      if (element < end) {
        const long col = column_of_element(element, p.M, size);
        const long row = element - col * p.M;
        // To add -0 changes nothing, so that one line serves every beta.
        const float added =
            c_factor == 0.0f ? -0.0f : c_factor * load_element(C, c + col * p.c.ld + row, type);
        const float without_t = c_factor == 0.0f ? 0.0f : added;
        float value = t_factor == 0.0f ? without_t : fma(t_factor, t[col * p.t.ld + row], added);
        if (bias != 0) {
          value += bias[p.bias_offset + member * p.bias_stride + row];
        }
        store_element(D, d + col * p.d.ld + row, type, apply((int)p.function, value));
      }
    }
  }
}
