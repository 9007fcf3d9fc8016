// The kernels' dialect for the host's own compiler, as compat/dialect.h is for those of devices: what the
// kernels for CPUs use of OpenCL C, as C++ for x86 processors with AVX2 and FMA, and with AVX-512 where the
// compiler may use it.
//
// A kernel is an ordinary function. Its work-group is one work-item, so that there are no barriers, and local
// memory is the caller's stack.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <utility>

#define FLOAT_(width) float##width
#define VLOAD_(width) vload##width
#define VSTORE_(width) vstore##width
#define FLOAT(width) FLOAT_(width)
#define VLOAD(width) VLOAD_(width)
#define VSTORE(width) VSTORE_(width)

#define __kernel static
#define __global
#define __local
#define LOCAL_PTR
#ifndef __clang__  // which has that of the kernels
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define FUNCTION static inline __attribute__((always_inline))
#define reqd_work_group_size(x, y, z)

#define ARGUMENTS(Struct) const Struct& p
#define TAKE_ARGUMENTS(Struct)

struct float2 {
  float x, y;
};

// The names of its elements stand in no other vector, because the kernels name none of others.
struct float4 {
  union {
    __m128 v;
    __extension__ struct { float x, y, z, w; };
    __extension__ struct { float2 lo, hi; };
  };
  float4() = default;
  float4(__m128 vector) : v(vector) {}
  explicit float4(float value) : v(_mm_set1_ps(value)) {}
};

struct float8 {
  __m256 v;
  float8() = default;
  float8(__m256 vector) : v(vector) {}
  explicit float8(float value) : v(_mm256_set1_ps(value)) {}
};

#ifdef __AVX512F__
struct float16 {
  __m512 v;
  float16() = default;
  float16(__m512 vector) : v(vector) {}
  explicit float16(float value) : v(_mm512_set1_ps(value)) {}
};

FUNCTION float16 operator*(float16 a, float16 b) { return _mm512_mul_ps(a.v, b.v); }
FUNCTION float16 fma(float16 a, float16 b, float16 c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
FUNCTION float16 vload16(std::size_t offset, const float* from) {
  return _mm512_loadu_ps(from + 16 * offset);
}
FUNCTION void vstore16(float16 value, std::size_t offset, float* to) {
  _mm512_storeu_ps(to + 16 * offset, value.v);
}
#endif

FUNCTION float4 operator*(float4 a, float4 b) { return _mm_mul_ps(a.v, b.v); }
FUNCTION float8 operator*(float8 a, float8 b) { return _mm256_mul_ps(a.v, b.v); }

FUNCTION float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FUNCTION float4 fma(float4 a, float4 b, float4 c) { return _mm_fmadd_ps(a.v, b.v, c.v); }
FUNCTION float8 fma(float8 a, float8 b, float8 c) { return _mm256_fmadd_ps(a.v, b.v, c.v); }

FUNCTION float4 vload4(std::size_t offset, const float* from) { return _mm_loadu_ps(from + 4 * offset); }
FUNCTION float8 vload8(std::size_t offset, const float* from) { return _mm256_loadu_ps(from + 8 * offset); }
FUNCTION void vstore4(float4 value, std::size_t offset, float* to) {
  _mm_storeu_ps(to + 4 * offset, value.v);
}
FUNCTION void vstore8(float8 value, std::size_t offset, float* to) {
  _mm256_storeu_ps(to + 8 * offset, value.v);
}

// The work-group that this thread computes.
static thread_local struct {
  std::size_t id[2];
  std::size_t count[2];
} group;

FUNCTION std::size_t get_group_id(int dimension) { return group.id[dimension]; }
FUNCTION std::size_t get_num_groups(int dimension) { return group.count[dimension]; }
FUNCTION std::size_t get_local_id(int) { return 0; }

// What CpuProgram::Entry does (cpu_programs.h), with a kernel whose parameters are a struct and pointers.
template <typename Struct, typename... Elements, std::size_t... indices>
FUNCTION void compute_groups(void (*kernel)(const Struct&, Elements*...), std::index_sequence<indices...>,
                             const void* const* pointers, const void* arguments, const std::size_t* groups,
                             std::size_t first, std::size_t end) {
  group.count[0] = groups[0];
  group.count[1] = groups[1];
  for (std::size_t i = first; i < end; ++i) {
    group.id[0] = i % groups[0];
    group.id[1] = i / groups[0];
    kernel(*static_cast<const Struct*>(arguments),
           static_cast<Elements*>(const_cast<void*>(pointers[indices]))...);
  }
}
template <typename Struct, typename... Elements>
FUNCTION void compute_groups(void (*kernel)(const Struct&, Elements*...), const void* const* pointers,
                             const void* arguments, const std::size_t* groups, std::size_t first,
                             std::size_t end) {
  compute_groups(kernel, std::index_sequence_for<Elements...>(), pointers, arguments, groups, first, end);
}
