// The names that the dialect adds to OpenCL C.

// The same sum, rounded the same way, on every device: only an explicit fma is fused.
#pragma OPENCL FP_CONTRACT OFF

// Pointers into local memory (see dialect.h).
#define LOCAL_PTR __local

// Vectors of width 1, so that a kernel can be written once for every WIDTH.
#define float1 float
#define vload1(offset, pointer) ((pointer)[offset])
#define vstore1(value, offset, pointer) ((pointer)[offset] = (value))

// Functions of a kernel file. Compiled into their callers by force: PoCL computes wrong results where a
// barrier is in a function that is not.
#define FUNCTION static inline __attribute__((always_inline))

// OpenCL has no word for how many work-groups should fit on a multiprocessor: opencl/ says it on NVIDIA's.
#define work_group(items, resident) reqd_work_group_size(items, 1, 1)

// A kernel's struct (see dialect.h).
#define ARGUMENTS(Struct) const Struct p
#define TAKE_ARGUMENTS(Struct)
