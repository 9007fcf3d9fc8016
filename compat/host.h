// Turns OpenCL C into C++ for the host's own compiler, as far as the kernels use it that are for CPUs or
// whose work-items share no local memory (dialect.h lists the dialect). Vectors are as wide as the
// processor's.
//
// A kernel is an ordinary function, which is called for each work-item. Local memory is the caller's stack.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#elif defined(__SSE__)  // a tenth of it
#include <xmmintrin.h>
#endif
#ifdef __aarch64__
#include <arm_neon.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define __kernel
#define __global
#define __local
#define LOCAL_PTR
#ifndef __clang__  // which has that of the kernels
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define FUNCTION static inline __attribute__((always_inline))
#define OWN_FUNCTION static __attribute__((noinline, unused))
// Stands in front of a kernel, within __attribute__(()).
#define reqd_work_group_size(x, y, z)                       \
  unused)) constexpr std::size_t work_items[] = {(x), (y)}; \
  static __attribute__((unused
#define barrier(fence) static_assert(work_items[0] * work_items[1] == 1, "work-items cannot wait for others")

#define ARGUMENTS(Struct) const Struct& p
#define TAKE_ARGUMENTS(Struct)

using uint = unsigned;
using ushort = unsigned short;
#if __SIZEOF_LONG__ < 8  // as compilers for Windows have it
#define long long long
#endif

FUNCTION void prefetch(const float* from, std::size_t) { __builtin_prefetch(from); }
#ifdef _LIBCPP_VERSION  // LLVM's library has these of float, and other headers of its declare them
#include <cmath>
#else
FUNCTION float exp(float x) { return __builtin_expf(x); }
FUNCTION float erfc(float x) { return __builtin_erfcf(x); }
FUNCTION float fmax(float x, float y) { return __builtin_fmaxf(x, y); }
#if defined(__AVX2__) || defined(__FP_FAST_FMAF) || defined(__aarch64__)  // of which Clang does not say so
FUNCTION float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#endif
#endif

struct float2 {
  float x, y;
};

// The names of its elements stand in no other vector, because the kernels name none of others.
struct float4 {
  using Elements __attribute__((vector_size(16), may_alias)) = float;
  union {
    Elements v;
    __extension__ struct { float x, y, z, w; };
    __extension__ struct { float2 lo, hi; };
  };
  float4() = default;
  float4(Elements vector) : v(vector) {}
  explicit float4(float value) : v(value - Elements{}) {}
};

#ifdef __AVX2__
// Load and store the first `count` elements of a vector alone. The others are loaded as 0.
#define LOAD_ROWS_(width) load_rows##width
#define STORE_ROWS_(width) store_rows##width
#define LOAD_ROWS(width) LOAD_ROWS_(width)
#define STORE_ROWS(width) STORE_ROWS_(width)
#ifdef __AVX512F__
FUNCTION unsigned rows_mask(int count) { return ~(~0u << (count < 16 ? count : 16)); }
#define DEFINE_ROWS(width, Mask, prefix)                                       \
  FUNCTION float##width load_rows##width(const float* from, int count) {       \
    return prefix##_maskz_loadu_ps(static_cast<Mask>(rows_mask(count)), from); \
  }                                                                            \
  FUNCTION void store_rows##width(float##width value, float* to, int count) {  \
    prefix##_mask_storeu_ps(to, static_cast<Mask>(rows_mask(count)), value.v); \
  }
#else
FUNCTION __m256i rows_mask(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
// Zen 3 takes as long for a masked store as for a dozen others.
FUNCTION void store_less(__m128 value, float* to, int count) {
  if (count & 2) {
    _mm_storel_pi(reinterpret_cast<__m64*>(to), value);
    value = _mm_movehl_ps(value, value);
    to += 2;
  }
  if (count & 1) {
    _mm_store_ss(to, value);
  }
}
#endif
#endif

#define DEFINE_VECTOR(count)                                                   \
  struct float##count {                                                        \
    using Elements __attribute__((vector_size(4 * count), may_alias)) = float; \
    Elements v;                                                                \
    float##count() = default;                                                  \
    float##count(Elements vector) : v(vector) {}                               \
    explicit float##count(float value) : v(value - Elements{}) {}              \
  };
#define DEFINE_OPERATIONS(count)                                                        \
  FUNCTION float##count operator*(float##count a, float##count b) { return a.v * b.v; } \
  FUNCTION float##count operator+(float##count a, float##count b) { return a.v + b.v; } \
  FUNCTION float##count vload##count(std::size_t offset, const float* from) {           \
    float##count result;                                                                \
    std::memcpy(&result, from + count * offset, sizeof result);                         \
    return result;                                                                      \
  }                                                                                     \
  FUNCTION void vstore##count(float##count value, std::size_t offset, float* to) {      \
    std::memcpy(to + count * offset, &value, sizeof value);                             \
  }

DEFINE_OPERATIONS(4)
#ifdef __AVX2__
DEFINE_VECTOR(8)
DEFINE_OPERATIONS(8)
#ifdef __AVX512F__
DEFINE_ROWS(4, __mmask8, _mm)
DEFINE_ROWS(8, __mmask8, _mm256)
#else
FUNCTION float4 load_rows4(const float* from, int count) {
  return _mm_maskload_ps(from, _mm256_castsi256_si128(rows_mask(count)));
}
FUNCTION float8 load_rows8(const float* from, int count) {
  return _mm256_maskload_ps(from, rows_mask(count));
}
FUNCTION void store_rows4(float4 value, float* to, int count) {
  if (count >= 4) {
    vstore4(value, 0, to);
  } else {
    store_less(value.v, to, count);
  }
}
FUNCTION void store_rows8(float8 value, float* to, int count) {
  if (count >= 8) {
    vstore8(value, 0, to);
  } else if (count >= 4) {
    _mm_storeu_ps(to, _mm256_castps256_ps128(value.v));
    store_less(_mm256_extractf128_ps(value.v, 1), to + 4, count);
  } else {
    store_less(_mm256_castps256_ps128(value.v), to, count);
  }
}
#endif
FUNCTION float4 fma(float4 a, float4 b, float4 c) { return _mm_fmadd_ps(a.v, b.v, c.v); }
FUNCTION float8 fma(float8 a, float8 b, float8 c) { return _mm256_fmadd_ps(a.v, b.v, c.v); }
#ifdef __AVX512F__
DEFINE_VECTOR(16)
DEFINE_OPERATIONS(16)
DEFINE_ROWS(16, __mmask16, _mm512)
FUNCTION float16 fma(float16 a, float16 b, float16 c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
#endif
#elif defined(__FP_FAST_FMAF) || defined(__aarch64__)
#ifdef __aarch64__
FUNCTION float4 fma(float4 a, float4 b, float4 c) { return vfmaq_f32(c.v, a.v, b.v); }
#else
FUNCTION float4 fma(float4 a, float4 b, float4 c) {
  return float4::Elements{fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w)};
}
#endif
#else
// For a processor without fused multiply-adds, by double precision: the product is exact there. The sum is
// rounded to odd (Boldo and Melquiond, 2008): where it is inexact, and its last bit is 0, it becomes its
// neighbour on the other side of the exact sum. To round that to a float is then as good as to round once.
static __attribute__((noinline)) float4 fma(float4 a, float4 b, float4 c) {
  using Doubles __attribute__((vector_size(32))) = double;
  using Bits __attribute__((vector_size(32))) = std::int64_t;
  const Doubles product = __builtin_convertvector(a.v, Doubles) * __builtin_convertvector(b.v, Doubles);
  const Doubles added = __builtin_convertvector(c.v, Doubles);
  const Doubles sum = product + added;
  const Doubles of_added = sum - product;
  const Doubles error = (product - (sum - of_added)) + (added - of_added);
  const Bits inexact = (error > 0.0) | (error < 0.0);  // not where it is no number
  const Bits towards_zero = (error > 0.0) ^ (sum > 0.0);
  Bits bits = (Bits)sum;
  bits += inexact & ((bits & 1) - 1) & (towards_zero | 1);
  return __builtin_convertvector((Doubles)bits, float4::Elements);
}
#ifndef _LIBCPP_VERSION
FUNCTION float fma(float a, float b, float c) { return fma(float4(a), float4(b), float4(c)).x; }
#endif
#endif

// Vectors that are wider than the processor's.
#define DEFINE_HALVES(width, half)                                                                       \
  struct float##width {                                                                                  \
    float##half lo, hi;                                                                                  \
    float##width() = default;                                                                            \
    float##width(float##half low, float##half high) : lo(low), hi(high) {}                               \
    explicit float##width(float value) : lo(value), hi(value) {}                                         \
  };                                                                                                     \
  FUNCTION float##width operator*(float##width a, float##width b) { return {a.lo * b.lo, a.hi * b.hi}; } \
  FUNCTION float##width operator+(float##width a, float##width b) { return {a.lo + b.lo, a.hi + b.hi}; } \
  FUNCTION float##width fma(float##width a, float##width b, float##width c) {                            \
    return {fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)};                                               \
  }                                                                                                      \
  FUNCTION float##width vload##width(std::size_t offset, const float* from) {                            \
    return {vload##half(2 * offset, from), vload##half(2 * offset + 1, from)};                           \
  }                                                                                                      \
  FUNCTION void vstore##width(float##width value, std::size_t offset, float* to) {                       \
    vstore##half(value.lo, 2 * offset, to);                                                              \
    vstore##half(value.hi, 2 * offset + 1, to);                                                          \
  }
#ifndef __AVX2__
DEFINE_HALVES(8, 4)
#endif
#ifndef __AVX512F__
DEFINE_HALVES(16, 8)
#endif

#if defined(__SSE__) || defined(__aarch64__)
// See gemm/cpu/cpu_transpose.h.
#define TRANSPOSE_4X4 transpose_4x4
FUNCTION void transpose_4x4(float4& to0, float4& to1, float4& to2, float4& to3, float4 from0, float4 from1,
                            float4 from2, float4 from3) {
#ifdef __SSE__
  _MM_TRANSPOSE4_PS(from0.v, from1.v, from2.v, from3.v);
  to0 = from0.v, to1 = from1.v, to2 = from2.v, to3 = from3.v;
#else
  const float32x4_t even_low = vzip1q_f32(from0.v, from2.v), odd_low = vzip1q_f32(from1.v, from3.v);
  const float32x4_t even_high = vzip2q_f32(from0.v, from2.v), odd_high = vzip2q_f32(from1.v, from3.v);
  to0 = vzip1q_f32(even_low, odd_low), to1 = vzip2q_f32(even_low, odd_low);
  to2 = vzip1q_f32(even_high, odd_high), to3 = vzip2q_f32(even_high, odd_high);
#endif
}

// See gemm/cpu/cpu_dots.cl.
#define SUMS_OF_FOUR_(width) sums_of_four##width
#define SUMS_OF_FOUR(width) SUMS_OF_FOUR_(width)
#ifdef __aarch64__
FUNCTION float4 sums_of_four4(float4 v0, float4 v1, float4 v2, float4 v3) {
  return vpaddq_f32(vpaddq_f32(v0.v, v1.v), vpaddq_f32(v2.v, v3.v));
}
#else
// First within each four elements of the vectors, whose sums become neighbours; then the fours.
#define DEFINE_SUMS_OF_FOUR(width, FROM)                                                                    \
  FUNCTION float4 sums_of_four##width(float##width v0, float##width v1, float##width v2, float##width v3) { \
    const float##width low = FROM(unpacklo_ps, v0.v, v1.v) + FROM(unpackhi_ps, v0.v, v1.v);                 \
    const float##width high = FROM(unpacklo_ps, v2.v, v3.v) + FROM(unpackhi_ps, v2.v, v3.v);                \
    return fold##width(FROM(shuffle_ps, low.v, high.v, 0x44) + FROM(shuffle_ps, low.v, high.v, 0xee));      \
  }
#define FROM_4(name, ...) _mm_##name(__VA_ARGS__)
FUNCTION float4 fold4(float4 vector) { return vector; }
DEFINE_SUMS_OF_FOUR(4, FROM_4)
#ifdef __AVX2__
#define FROM_8(name, ...) _mm256_##name(__VA_ARGS__)
FUNCTION float4 fold8(float8 vector) {
  return _mm256_castps256_ps128(vector.v) + _mm256_extractf128_ps(vector.v, 1);
}
DEFINE_SUMS_OF_FOUR(8, FROM_8)
#ifdef __AVX512F__
// With a mask of all elements, because GCC 12 warns of what is left unset without one.
#define FROM_16(name, ...) _mm512_maskz_##name(0xffff, __VA_ARGS__)
FUNCTION float4 fold16(float16 vector) {
  const __m512d elements = _mm512_castps_pd(vector.v);
  const __m256d low = _mm512_maskz_extractf64x4_pd(0xf, elements, 0);
  const __m256d high = _mm512_maskz_extractf64x4_pd(0xf, elements, 1);
  return fold8(_mm256_castpd_ps(low) + _mm256_castpd_ps(high));
}
DEFINE_SUMS_OF_FOUR(16, FROM_16)
#endif
#endif
#endif
#endif

// The work-item that this thread computes.
static thread_local struct {
  std::size_t group[2];
  const std::size_t* groups;
  std::size_t item[2];
} work;

FUNCTION std::size_t get_group_id(int dimension) { return work.group[dimension]; }
FUNCTION std::size_t get_num_groups(int dimension) { return work.groups[dimension]; }
FUNCTION std::size_t get_local_id(int dimension) { return work.item[dimension]; }
#define get_global_id(dimension) (get_group_id(dimension) * work_items[dimension] + get_local_id(dimension))

// Answers what a kernel's parameter of that type gets: a buffer's address, or the number or struct that
// stands there.
template <typename Parameter>
FUNCTION Parameter argument(const void* at) {
  if constexpr (std::is_pointer_v<Parameter>) {
    return static_cast<Parameter>(const_cast<void*>(at));
  } else {
    return *static_cast<const std::remove_reference_t<Parameter>*>(at);
  }
}

// Does what CpuEntry says (cpu/cpu_programs.h), with a kernel and its work_items.
template <typename... Parameters, std::size_t... indices>
FUNCTION void compute_groups(void (*kernel)(Parameters...), const std::size_t (&items)[2],
                             std::index_sequence<indices...>, const void* const* arguments,
                             const std::size_t* groups, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    const std::size_t row = i == 0 ? 0 : i / groups[0];  // a small product takes as long as a division
    for (std::size_t y = 0; y < items[1]; ++y) {
      for (std::size_t x = 0; x < items[0]; ++x) {
        work = {{i - row * groups[0], row}, groups, {x, y}};
        kernel(argument<Parameters>(arguments[indices])...);
      }
    }
  }
}
template <typename... Parameters>
FUNCTION void compute_groups(void (*kernel)(Parameters...), const std::size_t (&items)[2],
                             const void* const* arguments, const std::size_t* groups, std::size_t first,
                             std::size_t end) {
  compute_groups(kernel, items, std::index_sequence_for<Parameters...>(), arguments, groups, first, end);
}
