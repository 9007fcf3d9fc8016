// OpenCL C as CUDA C++: qualifiers, work-item functions, barriers, and the built-in functions that kernels
// use.

#define DUOGEMM_DEVICE static __device__ __forceinline__

// --- Types -----------------------------------------------------------------------------------------------
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// --- Qualifiers ------------------------------------------------------------------------------------------
#define __kernel extern "C" __global__
#define __global
#define __local __shared__
#define __private
#define __constant static __constant__ const
#define LOCAL_PTR
#define restrict __restrict__

// The attribute list __attribute__((reqd_work_group_size(x, y, z))) becomes what __launch_bounds__ expands
// to.
#define reqd_work_group_size(x, y, z) launch_bounds((x) * (y) * (z))
#define work_group(items, resident) launch_bounds(items, resident)
#define FUNCTION DUOGEMM_DEVICE

// A kernel's parameters (see dialect.h): each by itself, in the list's order.
#define DUOGEMM_POINTER(type, name) , type* name
#define DUOGEMM_LONG(name) , const long name
#define DUOGEMM_SINGLE(name) , const float name
#define DUOGEMM_VALUE(name) name,
#define DUOGEMM_BEHIND_FIRST(first, ...) __VA_ARGS__
#define DUOGEMM_BEHIND_COMMA(...) DUOGEMM_BEHIND_FIRST(__VA_ARGS__)
#define PARAMETERS(LIST) DUOGEMM_BEHIND_COMMA(LIST(DUOGEMM_POINTER, DUOGEMM_LONG, DUOGEMM_SINGLE))
#define NUMBERS(LIST) const LIST##_NUMBERS p = {DUOGEMM_LONGS_FIRST(LIST, DUOGEMM_VALUE, DUOGEMM_VALUE)}

// --- Work-item functions ---------------------------------------------------------------------------------
#define DUOGEMM_WORK_ITEM_FUNCTION(name, expression_x, expression_y, expression_z) \
  DUOGEMM_DEVICE size_t name(uint dimension) {                                     \
    return dimension == 0   ? (size_t)(expression_x)                               \
           : dimension == 1 ? (size_t)(expression_y)                               \
                            : (size_t)(expression_z);                              \
  }
DUOGEMM_WORK_ITEM_FUNCTION(get_local_id, threadIdx.x, threadIdx.y, threadIdx.z)
DUOGEMM_WORK_ITEM_FUNCTION(get_local_size, blockDim.x, blockDim.y, blockDim.z)
DUOGEMM_WORK_ITEM_FUNCTION(get_group_id, blockIdx.x, blockIdx.y, blockIdx.z)
DUOGEMM_WORK_ITEM_FUNCTION(get_num_groups, gridDim.x, gridDim.y, gridDim.z)
#undef DUOGEMM_WORK_ITEM_FUNCTION

DUOGEMM_DEVICE size_t get_global_id(uint dimension) {
  return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
}
DUOGEMM_DEVICE size_t get_global_size(uint dimension) {
  return get_num_groups(dimension) * get_local_size(dimension);
}
// CUDA has no global offset.
DUOGEMM_DEVICE size_t get_global_offset(uint) { return 0; }
// A grid is always three-dimensional, and so is every range that the OpenCL host launches.
DUOGEMM_DEVICE uint get_work_dim() { return 3; }

// --- Barriers and fences ---------------------------------------------------------------------------------
#define CLK_LOCAL_MEM_FENCE 1u
#define CLK_GLOBAL_MEM_FENCE 2u

// __syncthreads orders both address spaces among the work-group, whatever the flags ask for.
DUOGEMM_DEVICE void barrier(uint) { __syncthreads(); }
DUOGEMM_DEVICE void mem_fence(uint) { __threadfence_block(); }
DUOGEMM_DEVICE void read_mem_fence(uint) { __threadfence_block(); }
DUOGEMM_DEVICE void write_mem_fence(uint) { __threadfence_block(); }

// --- Reinterpretation and conversion ---------------------------------------------------------------------
DUOGEMM_DEVICE int as_int(float value) { return __float_as_int(value); }
DUOGEMM_DEVICE int as_int(uint value) { return (int)value; }
DUOGEMM_DEVICE uint as_uint(float value) { return __float_as_uint(value); }
DUOGEMM_DEVICE uint as_uint(int value) { return (uint)value; }
DUOGEMM_DEVICE float as_float(int value) { return __int_as_float(value); }
DUOGEMM_DEVICE float as_float(uint value) { return __uint_as_float(value); }

// From any scalar type: an overload for some only would lead the others through one of them.
#define DUOGEMM_CONVERT(type)                        \
  template <typename Source>                         \
  DUOGEMM_DEVICE type convert_##type(Source value) { \
    return (type)value;                              \
  }
DUOGEMM_CONVERT(float)
DUOGEMM_CONVERT(int)
DUOGEMM_CONVERT(uint)
#undef DUOGEMM_CONVERT
DUOGEMM_DEVICE int convert_int_rte(float value) { return __float2int_rn(value); }
DUOGEMM_DEVICE int convert_int_rtz(float value) { return __float2int_rz(value); }
DUOGEMM_DEVICE int convert_int_rtp(float value) { return __float2int_ru(value); }
DUOGEMM_DEVICE int convert_int_rtn(float value) { return __float2int_rd(value); }

// --- Scalar functions that CUDA C++ does not already have under OpenCL's name -----------------------------
// (fma, fmin, fmax, fabs, sqrt, rsqrt, exp, log, min and max are the same in both.)
DUOGEMM_DEVICE float mad(float a, float b, float c) { return fmaf(a, b, c); }
DUOGEMM_DEVICE float clamp(float value, float low, float high) { return fminf(fmaxf(value, low), high); }
DUOGEMM_DEVICE int clamp(int value, int low, int high) { return min(max(value, low), high); }
DUOGEMM_DEVICE uint clamp(uint value, uint low, uint high) { return min(max(value, low), high); }
DUOGEMM_DEVICE int mul24(int a, int b) { return __mul24(a, b); }
DUOGEMM_DEVICE uint mul24(uint a, uint b) { return __umul24(a, b); }
DUOGEMM_DEVICE int mad24(int a, int b, int c) { return __mul24(a, b) + c; }
DUOGEMM_DEVICE uint mad24(uint a, uint b, uint c) { return __umul24(a, b) + c; }
DUOGEMM_DEVICE float native_sqrt(float value) { return __fsqrt_rn(value); }
DUOGEMM_DEVICE float native_rsqrt(float value) { return rsqrtf(value); }
DUOGEMM_DEVICE float native_recip(float value) { return __fdividef(1.0f, value); }
DUOGEMM_DEVICE float native_divide(float a, float b) { return __fdividef(a, b); }
DUOGEMM_DEVICE float native_powr(float a, float b) { return __powf(a, b); }
DUOGEMM_DEVICE float native_exp(float value) { return __expf(value); }
DUOGEMM_DEVICE float native_exp2(float value) { return exp2f(value); }
DUOGEMM_DEVICE float native_exp10(float value) { return __exp10f(value); }
DUOGEMM_DEVICE float native_log(float value) { return __logf(value); }
DUOGEMM_DEVICE float native_log2(float value) { return __log2f(value); }
DUOGEMM_DEVICE float native_log10(float value) { return __log10f(value); }
DUOGEMM_DEVICE float native_sin(float value) { return __sinf(value); }
DUOGEMM_DEVICE float native_cos(float value) { return __cosf(value); }
DUOGEMM_DEVICE float native_tan(float value) { return __tanf(value); }

#include "cuda_vectors.h"
