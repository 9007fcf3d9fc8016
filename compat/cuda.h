// OpenCL C as CUDA C++: qualifiers, work-item functions and barriers. Scalar functions have the same names in
// both (dialect.h lists them).

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

// A kernel's struct (see dialect.h). The kernel works on a copy that is made word by word: where the argument
// itself, or a copy of the whole, goes on to functions, nvcc 13.0 lets other structs stand in its place while
// it is still read.
template <int words>
struct duogemm_words {
  static __device__ __forceinline__ void copy(ulong* to, const ulong* from) {
    *to = *from;
    duogemm_words<words - 1>::copy(to + 1, from + 1);
  }
};
template <>
struct duogemm_words<0> {
  static __device__ __forceinline__ void copy(ulong*, const ulong*) {}
};
#define ARGUMENTS(Struct) const Struct duogemm_given
#define TAKE_ARGUMENTS(Struct) \
  Struct p;                    \
  duogemm_words<sizeof(p) / sizeof(ulong)>::copy((ulong*)&p, (const ulong*)&duogemm_given)

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

// --- Barriers --------------------------------------------------------------------------------------------
#define CLK_LOCAL_MEM_FENCE 1u
#define CLK_GLOBAL_MEM_FENCE 2u

// __syncthreads orders both address spaces among the work-group, whatever the flags ask for.
DUOGEMM_DEVICE void barrier(uint) { __syncthreads(); }

#include "cuda_vectors.h"
