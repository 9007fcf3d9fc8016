// OpenCL C as CUDA C++: qualifiers, work-item functions, barriers, and the built-in functions that an SGEMM
// kernel may want (dialect.h lists them).

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

// A kernel's parameters (see dialect.h): each by itself, in the list's order; for NVIDIA's OpenCL pointers, then
// the struct. Its members are copied one by one: given the struct as it is, nvcc 13.0 lets other structs stand in
// its place while it is still read (skinny_dots).
#ifdef DUOGEMM_FOR_OPENCL
#define DUOGEMM_VALUE(name) numbers.name,
#define PARAMETERS(LIST) DUOGEMM_POINTERS_FIRST(LIST) const LIST##_NUMBERS numbers
#else
#define DUOGEMM_POINTER(type, name) , type* name
#define DUOGEMM_LONG(name) , const long name
#define DUOGEMM_SINGLE(name) , const float name
#define DUOGEMM_VALUE(name) name,
#define DUOGEMM_BEHIND_FIRST(first, ...) __VA_ARGS__
#define DUOGEMM_BEHIND_COMMA(...) DUOGEMM_BEHIND_FIRST(__VA_ARGS__)
#define PARAMETERS(LIST) DUOGEMM_BEHIND_COMMA(LIST(DUOGEMM_POINTER, DUOGEMM_LONG, DUOGEMM_SINGLE))
#endif
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

// --- Barriers --------------------------------------------------------------------------------------------
#define CLK_LOCAL_MEM_FENCE 1u
#define CLK_GLOBAL_MEM_FENCE 2u

// __syncthreads orders both address spaces among the work-group, whatever the flags ask for.
DUOGEMM_DEVICE void barrier(uint) { __syncthreads(); }

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

#include "cuda_vectors.h"
