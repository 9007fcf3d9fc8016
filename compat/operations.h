// Named operations: what each target spells in its own way. A kernel uses the name and never asks which
// target it is on.
//
//   READ_ONLY(width, p)        *p, a float1, 2, 4, 8 or 16 that no work-item writes while the kernel runs.
//                              With USE_LDG 1 it goes through the read-only data path that compute
//                              capability 3.5 brought (ld.global.nc; __ldg in CUDA); elsewhere, and with
//                              USE_LDG 0, it is a plain load.
//   COPY_TO_LOCAL(width, to, from)
//                              begins to copy `width` floats, 1, 2 or 4 (aligned to as many), from global to
//                              local memory. With ASYNC 1 or 2 (cp.async of compute capability 8.0) it does
//                              so past the registers and without waiting; elsewhere it is a load and a store.
//                              With 1, copies of 4 pass by the L1 cache too, which on an H200 is mostly
//                              faster through CUDA and slower through OpenCL; with 2 they do not
//   COPY_COMMIT()              closes a group of copies that this work-item has begun
//   COPY_WAIT(n)               waits until at most the n youngest of its groups are under way; a barrier then
//                              shows the others' copies to the work-group
//   GRID_DEPENDENCY_WAIT()     waits until the kernel that was launched before is done, in case that this one
//                              was started early; nothing in front of it may touch what that kernel does. In
//                              CUDA, for compute capability 9.0 (griddepcontrol.wait); elsewhere no kernel
//                              is started early, and it does nothing.
//   CLUSTERS                   whether work-groups can form clusters: as many neighbours in the third
//                              dimension as the launch says run at the same time and may read each other's
//                              local memory. 1 in CUDA for compute capability 9.0. Elsewhere 0, and what
//                              follows is missing: NVIDIA's OpenCL (driver 580) takes PTX that asks for
//                              clusters, and starts work-groups one by one
//   CLUSTER_BARRIER()          a barrier for the work-items of a whole cluster and the local memory of all.
//                              A work-group must not end before the others have read what they need of it
//   CLUSTER_BARRIER_RELAXED()  the same barrier where it keeps nothing in order but the work-items: all that
//                              they read from others must have been used before it, and nothing that was
//                              written before it may be read after it. It spares the wait for a fence
//   READ_IN_CLUSTER(width, p, group)
//                              `width` floats, 1 or 4, of a work-group of the cluster, the group-th, from
//                              where p points to in this one's local memory
//   AS_FLOAT(bits), AS_UINT(value)
//                              a uint's bits as a float, and a float's as a uint
//   OPAQUE(x)                  hides from the compiler what the int x was made from, so that it computes anew
//                              what follows from x, and keeps no registers for it all along: NVIDIA's
//                              compilers carry whatever a loop does not change over from before it
//   SHUFFLE(value, lane)       the value that work-item `lane` of the same sub-group passes. With
//                              USE_SHUFFLE 1 only.
//   SUB_GROUP_LANE()           this work-item's place in its sub-group; work-items with consecutive linear
//                              local ids have consecutive lanes. With USE_SHUFFLE 1 only.
//
// An operation that a target does not have ends in #error "unsupported: ...", which the host turns into the
// reason why this device cannot run the kernel.

// The target, named once. An OpenCL host passes the compute capability of an NVIDIA device (90 for 9.0).
#if defined(__CUDACC__)
#define DUOGEMM_TARGET_CUDA
#elif defined(__NV_CL_C_VERSION) && defined(DUOGEMM_COMPUTE_CAPABILITY)
#define DUOGEMM_TARGET_NVIDIA_OPENCL
#endif

// A launch can make clusters and start a kernel early through CUDA, for compute capability 9.0.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(DUOGEMM_FOR_OPENCL)
#define DUOGEMM_HAS_LAUNCHES_OF_90
#endif

// --- Bits ------------------------------------------------------------------------------------------------
#if defined(DUOGEMM_TARGET_CUDA)
#define AS_FLOAT(bits) __uint_as_float(bits)
#define AS_UINT(value) __float_as_uint(value)
#elif defined(__cplusplus)
#define AS_FLOAT(bits) __builtin_bit_cast(float, (uint)(bits))
#define AS_UINT(value) __builtin_bit_cast(uint, (float)(value))
#else
#define AS_FLOAT(bits) as_float(bits)
#define AS_UINT(value) as_uint(value)
#endif

// --- Read-only loads -------------------------------------------------------------------------------------
#define DUOGEMM_READ_ONLY(width) read_only##width
#define READ_ONLY(width, pointer) DUOGEMM_READ_ONLY(width)(pointer)

#if defined(DUOGEMM_TARGET_CUDA)
#define DUOGEMM_INLINE DUOGEMM_DEVICE
#else
#define DUOGEMM_INLINE inline
#endif

#if defined(DUOGEMM_TARGET_CUDA) && defined(USE_LDG) && USE_LDG

DUOGEMM_INLINE float read_only1(const float* p) { return __ldg(p); }
DUOGEMM_INLINE float2 read_only2(const float2* p) {
  float2 r;
  r.pieces[0] = __ldg(p->pieces);
  return r;
}
DUOGEMM_INLINE float4 read_only4(const float4* p) {
  float4 r;
  r.pieces[0] = __ldg(p->pieces);
  return r;
}
#define DUOGEMM_READ_ONLY_FUNCTIONS

#elif defined(DUOGEMM_TARGET_CUDA) || (defined(DUOGEMM_TARGET_NVIDIA_OPENCL) && \
                                       DUOGEMM_COMPUTE_CAPABILITY >= 35 && defined(USE_LDG) && USE_LDG)

// As PTX: OpenCL has no __ldg, and a plain load of data that nothing seems to overwrite is one that CUDA's
// compiler would send through the read-only path on its own, with the switch off as well.
#if defined(DUOGEMM_TARGET_CUDA)
#define DUOGEMM_LOAD "ld.global"
#define DUOGEMM_ADDRESS(pointer) __cvta_generic_to_global(pointer)
#else
#define DUOGEMM_LOAD "ld.global.nc"
#define DUOGEMM_ADDRESS(pointer) (pointer)
#endif
DUOGEMM_INLINE float read_only1(const __global float* p) {
  float r;
  asm(DUOGEMM_LOAD ".f32 %0, [%1];" : "=f"(r) : "l"(DUOGEMM_ADDRESS(p)));
  return r;
}
DUOGEMM_INLINE float2 read_only2(const __global float2* p) {
  float2 r;
  asm(DUOGEMM_LOAD ".v2.f32 {%0, %1}, [%2];" : "=f"(r.x), "=f"(r.y) : "l"(DUOGEMM_ADDRESS(p)));
  return r;
}
DUOGEMM_INLINE float4 read_only4(const __global float4* p) {
  float4 r;
  asm(DUOGEMM_LOAD ".v4.f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)
      : "l"(DUOGEMM_ADDRESS(p)));
  return r;
}
#define DUOGEMM_READ_ONLY_FUNCTIONS

#else

#define read_only1(pointer) (*(pointer))
#define read_only2(pointer) (*(pointer))
#define read_only4(pointer) (*(pointer))
#define read_only8(pointer) (*(pointer))
#define read_only16(pointer) (*(pointer))

#endif

#ifdef DUOGEMM_READ_ONLY_FUNCTIONS
DUOGEMM_INLINE float8 read_only8(const __global float8* p) {
  const __global float4* part = (const __global float4*)p;
  float8 r;
  r.lo = read_only4(part);
  r.hi = read_only4(part + 1);
  return r;
}
DUOGEMM_INLINE float16 read_only16(const __global float16* p) {
  const __global float8* part = (const __global float8*)p;
  float16 r;
  r.lo = read_only8(part);
  r.hi = read_only8(part + 1);
  return r;
}
#endif

// --- Shuffles --------------------------------------------------------------------------------------------
#if defined(USE_SHUFFLE) && USE_SHUFFLE

#if defined(DUOGEMM_TARGET_CUDA)

DUOGEMM_DEVICE int duogemm_lane() {
  return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32u);
}
#define SUB_GROUP_LANE() duogemm_lane()
#if __CUDACC_VER_MAJOR__ >= 9
#define SHUFFLE(value, lane) __shfl_sync(0xffffffffu, value, lane)
#else
#define SHUFFLE(value, lane) __shfl(value, lane)
#endif

#elif defined(DUOGEMM_TARGET_NVIDIA_OPENCL)

inline int duogemm_lane() {
  return (
      int)((get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2))) %
           32u);
}
// volatile: a shuffle is an exchange between work-items, which must not move past a branch.
inline float duogemm_shuffle(float value, int lane) {
  float r;
#if DUOGEMM_COMPUTE_CAPABILITY >= 70
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(r) : "f"(value), "r"(lane));
#else
  asm volatile("shfl.idx.b32 %0, %1, %2, 0x1f;" : "=f"(r) : "f"(value), "r"(lane));
#endif
  return r;
}
#define SUB_GROUP_LANE() duogemm_lane()
#define SHUFFLE(value, lane) duogemm_shuffle(value, lane)

#elif defined(cl_khr_subgroup_shuffle)

#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#define SUB_GROUP_LANE() ((int)get_sub_group_local_id())
#define SHUFFLE(value, lane) sub_group_shuffle(value, (uint)(lane))

#else
#error "unsupported: USE_SHUFFLE needs an NVIDIA device or the extension cl_khr_subgroup_shuffle"
#endif

#endif

// --- Copies to local memory ------------------------------------------------------------------------------
#if defined(DUOGEMM_TARGET_CUDA)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define DUOGEMM_HAS_ASYNC_COPY
#endif
#define DUOGEMM_LOCAL_ADDRESS(pointer) ((uint)__cvta_generic_to_shared(pointer))
#define DUOGEMM_GLOBAL_ADDRESS(pointer) __cvta_generic_to_global(pointer)
#elif defined(DUOGEMM_TARGET_NVIDIA_OPENCL) && DUOGEMM_COMPUTE_CAPABILITY >= 80
#define DUOGEMM_HAS_ASYNC_COPY
#define DUOGEMM_LOCAL_ADDRESS(pointer) ((uint)(size_t)(pointer))
#define DUOGEMM_GLOBAL_ADDRESS(pointer) (pointer)
#endif

#define DUOGEMM_COPY_TO_LOCAL(width) copy_to_local##width
#define COPY_TO_LOCAL(width, to, from) DUOGEMM_COPY_TO_LOCAL(width)(to, from)

#if defined(ASYNC) && ASYNC && defined(DUOGEMM_HAS_ASYNC_COPY)

// Only 16 bytes can pass by the L1 cache.
#if ASYNC == 2
#define DUOGEMM_COPY_4 "cp.async.ca"
#else
#define DUOGEMM_COPY_4 "cp.async.cg"
#endif
DUOGEMM_INLINE void copy_to_local1(LOCAL_PTR float* to, const __global float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
               :
               : "r"(DUOGEMM_LOCAL_ADDRESS(to)), "l"(DUOGEMM_GLOBAL_ADDRESS(from))
               : "memory");
}
DUOGEMM_INLINE void copy_to_local2(LOCAL_PTR float* to, const __global float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
               :
               : "r"(DUOGEMM_LOCAL_ADDRESS(to)), "l"(DUOGEMM_GLOBAL_ADDRESS(from))
               : "memory");
}
DUOGEMM_INLINE void copy_to_local4(LOCAL_PTR float* to, const __global float* from) {
  asm volatile(DUOGEMM_COPY_4 ".shared.global [%0], [%1], 16;"
               :
               : "r"(DUOGEMM_LOCAL_ADDRESS(to)), "l"(DUOGEMM_GLOBAL_ADDRESS(from))
               : "memory");
}
#define COPY_COMMIT() asm volatile("cp.async.commit_group;" : : : "memory")
#define COPY_WAIT(pending) asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory")

#else

#define copy_to_local1(to, from) (*(to) = *(from))
#define copy_to_local2(to, from) (*(LOCAL_PTR float2*)(to) = *(const __global float2*)(from))
#define copy_to_local4(to, from) (*(LOCAL_PTR float4*)(to) = *(const __global float4*)(from))
#define COPY_COMMIT()
#define COPY_WAIT(pending)

#endif

// --- Clusters --------------------------------------------------------------------------------------------
#if defined(DUOGEMM_HAS_LAUNCHES_OF_90)
#define CLUSTERS 1

#define CLUSTER_BARRIER() \
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory")
#define CLUSTER_BARRIER_RELAXED() \
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory")

DUOGEMM_INLINE uint duogemm_address_in_cluster(const LOCAL_PTR float* pointer, uint group) {
  uint address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(DUOGEMM_LOCAL_ADDRESS(pointer)), "r"(group));
  return address;
}
DUOGEMM_INLINE float read_in_cluster1(const LOCAL_PTR float* pointer, uint group) {
  float r;
  asm volatile("ld.shared::cluster.f32 %0, [%1];"
               : "=f"(r)
               : "r"(duogemm_address_in_cluster(pointer, group))
               : "memory");
  return r;
}
DUOGEMM_INLINE float4 read_in_cluster4(const LOCAL_PTR float* pointer, uint group) {
  float4 r;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)
               : "r"(duogemm_address_in_cluster(pointer, group))
               : "memory");
  return r;
}
#define DUOGEMM_READ_IN_CLUSTER(width) read_in_cluster##width
#define READ_IN_CLUSTER(width, pointer, group) DUOGEMM_READ_IN_CLUSTER(width)(pointer, group)

#else
#define CLUSTERS 0
#endif

// --- Compilers -------------------------------------------------------------------------------------------
#if defined(DUOGEMM_TARGET_CUDA) || defined(DUOGEMM_TARGET_NVIDIA_OPENCL)
#define OPAQUE(x) asm volatile("" : "+r"(x))
#else
#define OPAQUE(x)
#endif

// --- Steps of a plan -------------------------------------------------------------------------------------
#if defined(DUOGEMM_HAS_LAUNCHES_OF_90)
#define GRID_DEPENDENCY_WAIT() asm volatile("griddepcontrol.wait;" : : : "memory")
#else
#define GRID_DEPENDENCY_WAIT()
#endif
