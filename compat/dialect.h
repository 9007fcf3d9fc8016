// The shared kernel dialect: OpenCL C 1.2, restricted to what is also CUDA C++ once this header has been
// read. Everything that the languages spell differently stands in this one include.
//
//   cuda.h, cuda_vectors.h   what turns OpenCL C into CUDA C++
//   opencl.h                 the few names that the dialect adds to OpenCL C
//   host.h                   what turns OpenCL C into C++ for the host, as far as kernels for CPUs use it
//   operations.h             named operations that each target spells in its own way
//
// The dialect leaves these out; write instead:
//   (float4)(a, b, c, d)     is a comma expression in C++: fill a vector by member, or vload it
//   __local on a pointer     __local declares an array only; a pointer to one is LOCAL_PTR T*
//   __constant on a pointer  __constant declares a program-scope table only; pass const __global T*
//   vector comparisons, vector conditions, integer vectors, swizzles (v.xzyw), images, samplers, half
//   a work-item function with a dimension above 2
//
// It has these of OpenCL's built-in functions:
//   get_local_id, get_local_size, get_group_id, get_num_groups, get_global_id, barrier
//   fma, fabs, fmin, fmax, min, max, sqrt, rsqrt, exp, log and erfc of scalars
//   float2, float4, float8 and float16, with + - * and fma; vloadn and vstoren
// Conversions are casts. The others, such as native_, as_ and convert_, are missing in CUDA.
//
// It adds:
//   FUNCTION                 before a function of a kernel file; it is compiled into its callers. It returns
//                            no struct: Oclgrind does not know what becomes of that
//   work_group(items, n)     an attribute of a kernel: work-groups of `items` in one dimension, of which n
//                            should fit on a multiprocessor. NVIDIA's compilers use as many registers as
//                            that leaves; with 0 they also weigh how many work-groups fit. OpenCL C has no
//                            word for n: the host asks for it, where n is the tunable RESIDENT
//   ARGUMENTS(Struct)        the first parameter of a kernel that takes its numbers in a struct, by value.
//                            NVIDIA's OpenCL launches it in 7 us, and in 8 with 17 numbers one by one
//   TAKE_ARGUMENTS(Struct);  first in the kernel, or after GRID_DEPENDENCY_WAIT(): the struct is then `p`
//
// DUOGEMM_FOR_OPENCL makes of CUDA C++ a program that NVIDIA's OpenCL driver launches, which has neither
// clusters nor early starts.
#ifndef DUOGEMM_COMPAT_DIALECT_H
#define DUOGEMM_COMPAT_DIALECT_H

// Names that depend on a tunable: FLOAT(WIDTH) is float4, and VSTORE(WIDTH) vstore4, when WIDTH is 4.
#define DUOGEMM_FLOAT(width) float##width
#define DUOGEMM_VLOAD(width) vload##width
#define DUOGEMM_VSTORE(width) vstore##width
#define FLOAT(width) DUOGEMM_FLOAT(width)
#define VLOAD(width) DUOGEMM_VLOAD(width)
#define VSTORE(width) DUOGEMM_VSTORE(width)

#if defined(__CUDACC__)
#include "cuda.h"
#elif defined(__cplusplus)
#include "host.h"
#else
#include "opencl.h"
#endif

#include "operations.h"

#endif
