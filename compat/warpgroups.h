// Operations of NVIDIA's compute capability 9.0 (and of no other: PTX calls that target sm_90a), for kernels
// in which four neighbouring sub-groups, a warpgroup, multiply together while others bring operands.
//
//   PACK(piece, first, second) two floats, each rounded to the nearest F16 or BF16, as `piece` says, in a
//                              uint; FIRST(piece, pair) and SECOND(piece, pair) are those two as floats
//   MBARRIER_INIT(barrier, n)  one work-item makes a barrier in local memory (an mbarrier), a ulong, for
//                              phases of n arrivals; MBARRIER_FENCE() and a work-group barrier show it to all
//   MBARRIER_ARRIVE(barrier)   one arrival; MBARRIER_ARRIVE_EXPECT(barrier, bytes) makes the phase wait for
//                              so many bytes of bulk copies, too
//   MBARRIER_WAIT(barrier, parity)
//                              waits until the phase with this parity, 0 for the first, is over
//   COPY_BULK(to, from, bytes, barrier)
//                              begins to copy from global to local memory, both aligned to 16 bytes; the
//                              barrier counts the bytes as they arrive
//   KEEP_REGISTERS(n), TAKE_REGISTERS(n)
//                              a warpgroup keeps n registers for each work-item, or takes as many
//   WARPGROUP_ARRIVE()         before the first product of a group, and when registers of one were written
//   WARPGROUP_COMMIT(), WARPGROUP_WAIT()
//                              closes a group of products; waits until all of them are done
//   LOAD_FRAGMENT(fragment, from)
//                              a sub-group's 16 x 16 block of pieces into registers, uint fragment[4].
//                              Work-item 8 i + j of the sub-group says where row j of the i-th 8 x 8 block is
//   WARPGROUP_MULTIPLY(piece, acc, fragment, matrix, adds)
//                              acc, 64 x 128, float acc[64], becomes the product of 64 x 16 pieces in
//                              registers and 16 x 128 in local memory, or, where `adds` is not 0, that is
//                              added to it
//   WARPGROUP_MULTIPLY_LOCAL(piece, acc, left, right, adds)
//                              the same with both in local memory
//   LOCAL_MATRIX(address, row_bytes)
//                              describes such a matrix: rows of 64 or 128 bytes along k, swizzled by 16 bytes
//                              as the PTX ISA draws it ("Shared Memory Matrix Layout"), from a multiple of
//                              1024 bytes on; adding 2 goes on by 16 pieces along k
//   LARGE_LOCAL(type, name, length, alignment)
//                              declares an array in local memory that may be longer than 48 KiB: through CUDA
//                              the launch says how long it is (Geometry::large_local_bytes)
//   LOCAL_ADDRESS(pointer)     the address in local memory as 32 bits
//   NUMBERED_BARRIER(id, n)    a barrier for n work-items of the work-group, whole sub-groups; id is 1 to 15.
//                              NUMBERED_BARRIER_ARRIVE(id, n) is counted among the n and does not wait
//   ANY_IN_SUB_GROUP(condition), SUB_GROUP_MAX(value)
//                              whether it holds for any, and the largest uint of all 32 work-items
//   DEVICE_FENCE()             the whole device sees what this work-item wrote before ahead of what it writes
//                              after
//   ATOMIC_INCREMENT(counter)  adds one to an int in global memory, and answers what it was before
//   AS_FLOAT(bits), AS_UINT(value)
//                              a uint's bits as a float, and a float's as a uint
//
// CUDA compiles such kernels for sm_90a. NVIDIA's OpenCL compiles for sm_90 and refuses what is marked with
// DUOGEMM_90A, so that it is a comment in its PTX: opencl/ uncomments it and changes the target.

#if defined(DUOGEMM_TARGET_CUDA)
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "unsupported: products of warpgroups need an NVIDIA device of compute capability 9.0"
#endif
#define DUOGEMM_90A ""
#elif defined(DUOGEMM_TARGET_NVIDIA_OPENCL) && DUOGEMM_COMPUTE_CAPABILITY == 90
#define DUOGEMM_90A "//90a "
#else
#error "unsupported: products of warpgroups need an NVIDIA device of compute capability 9.0"
#endif

#define LOCAL_ADDRESS(pointer) DUOGEMM_LOCAL_ADDRESS(pointer)
#if defined(DUOGEMM_TARGET_CUDA)
#define LARGE_LOCAL(type, name, length, alignment) extern __shared__ __align__(alignment) type name[]
#else
#define LARGE_LOCAL(type, name, length, alignment) \
  __local type name[length] __attribute__((aligned(alignment)))
#endif

// --- Pieces ----------------------------------------------------------------------------------------------
#define PACK(piece, first, second) DUOGEMM_PIECE(pack, piece)(first, second)
#define FIRST(piece, pair) DUOGEMM_PIECE(first, piece)(pair)
#define SECOND(piece, pair) DUOGEMM_PIECE(second, piece)(pair)
#define DUOGEMM_PIECE(what, piece) DUOGEMM_PIECE_NAME(what, piece)
#define DUOGEMM_PIECE_NAME(what, piece) duogemm_##what##_##piece

#if defined(DUOGEMM_TARGET_CUDA)
#define DUOGEMM_AS_FLOAT(bits) __uint_as_float(bits)
#define DUOGEMM_AS_UINT(value) __float_as_uint(value)
#else
#define DUOGEMM_AS_FLOAT(bits) as_float(bits)
#define DUOGEMM_AS_UINT(value) as_uint(value)
#endif
#define AS_FLOAT(bits) DUOGEMM_AS_FLOAT(bits)
#define AS_UINT(value) DUOGEMM_AS_UINT(value)

DUOGEMM_INLINE uint duogemm_pack_F16(float first, float second) {
  uint r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
  return r;
}
DUOGEMM_INLINE float duogemm_first_F16(uint pair) {
  float r;
  asm("{.reg .b16 x, y; mov.b32 {x, y}, %1; cvt.f32.f16 %0, x;}" : "=f"(r) : "r"(pair));
  return r;
}
DUOGEMM_INLINE float duogemm_second_F16(uint pair) {
  float r;
  asm("{.reg .b16 x, y; mov.b32 {x, y}, %1; cvt.f32.f16 %0, y;}" : "=f"(r) : "r"(pair));
  return r;
}
DUOGEMM_INLINE uint duogemm_pack_BF16(float first, float second) {
  uint r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
  return r;
}
DUOGEMM_INLINE float duogemm_first_BF16(uint pair) { return AS_FLOAT(pair << 16); }
DUOGEMM_INLINE float duogemm_second_BF16(uint pair) { return AS_FLOAT(pair & 0xffff0000u); }

// --- Barriers in local memory, and bulk copies -----------------------------------------------------------
DUOGEMM_INLINE void duogemm_mbarrier_init(uint barrier, uint count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(barrier), "r"(count) : "memory");
}
DUOGEMM_INLINE void duogemm_mbarrier_arrive(uint barrier) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" : : "r"(barrier) : "memory");
}
DUOGEMM_INLINE void duogemm_mbarrier_arrive_expect(uint barrier, uint bytes) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1;}"
               :
               : "r"(barrier), "r"(bytes)
               : "memory");
}
DUOGEMM_INLINE uint duogemm_mbarrier_try_wait(uint barrier, uint parity) {
  uint over;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(over)
               : "r"(barrier), "r"(parity)
               : "memory");
  return over;
}
#define MBARRIER_INIT(barrier, count) duogemm_mbarrier_init(barrier, count)
#define MBARRIER_FENCE() asm volatile("fence.proxy.async.shared::cta;" : : : "memory")
#define MBARRIER_ARRIVE(barrier) duogemm_mbarrier_arrive(barrier)
#define MBARRIER_ARRIVE_EXPECT(barrier, bytes) duogemm_mbarrier_arrive_expect(barrier, bytes)
#define MBARRIER_WAIT(barrier, parity)                \
  while (!duogemm_mbarrier_try_wait(barrier, parity)) { \
  }

DUOGEMM_INLINE void duogemm_copy_bulk(uint to, const __global uint* from, uint bytes, uint barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(to), "l"(DUOGEMM_GLOBAL_ADDRESS(from)), "r"(bytes), "r"(barrier)
               : "memory");
}
#define COPY_BULK(to, from, bytes, barrier) duogemm_copy_bulk(to, from, bytes, barrier)

// --- Work-items together ---------------------------------------------------------------------------------
#define NUMBERED_BARRIER(id, count) asm volatile("bar.sync %0, %1;" : : "r"(id), "n"(count) : "memory")
#define NUMBERED_BARRIER_ARRIVE(id, count) \
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "n"(count) : "memory")
#define DEVICE_FENCE() asm volatile("fence.acq_rel.gpu;" : : : "memory")

DUOGEMM_INLINE int duogemm_any(int condition) {
  int r;
  asm volatile(
      "{.reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff; selp.s32 %0, 1, 0, q;}"
      : "=r"(r)
      : "r"(condition));
  return r;
}
#define ANY_IN_SUB_GROUP(condition) duogemm_any(condition)
DUOGEMM_INLINE uint duogemm_max(uint value) {
  uint r;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(value));
  return r;
}
#define SUB_GROUP_MAX(value) duogemm_max(value)
DUOGEMM_INLINE int duogemm_atomic_increment(__global int* counter) {
  int r;
  asm volatile("atom.global.add.s32 %0, [%1], 1;"
               : "=r"(r)
               : "l"(DUOGEMM_GLOBAL_ADDRESS(counter))
               : "memory");
  return r;
}
#define ATOMIC_INCREMENT(counter) duogemm_atomic_increment(counter)

// --- Products of warpgroups ------------------------------------------------------------------------------
#define KEEP_REGISTERS(count) asm volatile(DUOGEMM_90A "setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count))
#define TAKE_REGISTERS(count) asm volatile(DUOGEMM_90A "setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count))
#define WARPGROUP_ARRIVE() asm volatile(DUOGEMM_90A "wgmma.fence.sync.aligned;" : : : "memory")
#define WARPGROUP_COMMIT() asm volatile(DUOGEMM_90A "wgmma.commit_group.sync.aligned;" : : : "memory")
#define WARPGROUP_WAIT() asm volatile(DUOGEMM_90A "wgmma.wait_group.sync.aligned 0;" : : : "memory")

DUOGEMM_INLINE void duogemm_load_fragment(uint* fragment, uint from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(from)
               : "memory");
}
#define LOAD_FRAGMENT(fragment, from) duogemm_load_fragment(fragment, from)

// Bits 0 to 13 the address and 32 to 45 the distance of eight rows, both in 16 bytes; 62 and 63 the swizzle.
#define LOCAL_MATRIX(address, row_bytes)                                                     \
  ((ulong)(((address)&0x3ffffu) >> 4) | (ulong)1 << 16 | (ulong)((row_bytes)*8 / 16) << 32 | \
   (ulong)((row_bytes) == 128 ? 1 : 2) << 62)

#define DUOGEMM_8_ACCUMULATORS(acc, i)                                                                    \
  "+f"((acc)[i]), "+f"((acc)[(i) + 1]), "+f"((acc)[(i) + 2]), "+f"((acc)[(i) + 3]), "+f"((acc)[(i) + 4]), \
      "+f"((acc)[(i) + 5]), "+f"((acc)[(i) + 6]), "+f"((acc)[(i) + 7])
#define DUOGEMM_64_ACCUMULATORS(acc)                                                                     \
  DUOGEMM_8_ACCUMULATORS(acc, 0), DUOGEMM_8_ACCUMULATORS(acc, 8), DUOGEMM_8_ACCUMULATORS(acc, 16),       \
      DUOGEMM_8_ACCUMULATORS(acc, 24), DUOGEMM_8_ACCUMULATORS(acc, 32), DUOGEMM_8_ACCUMULATORS(acc, 40), \
      DUOGEMM_8_ACCUMULATORS(acc, 48), DUOGEMM_8_ACCUMULATORS(acc, 56)
#define DUOGEMM_64_OPERANDS                                                                              \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "     \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, " \
  "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, " \
  "%61, %62, %63}"

// One line, so that it is one comment.
#define DUOGEMM_WGMMA(type, number, operands)                                                      \
  DUOGEMM_90A "{.reg .pred p; setp.ne.s32 p, " number                                              \
              ", 0; "                                                                              \
              "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " " DUOGEMM_64_OPERANDS \
              ", " operands ", p, 1, 1, "

#define DUOGEMM_MULTIPLY_FUNCTIONS(piece, type)                                                \
  DUOGEMM_INLINE void duogemm_multiply_##piece(float* acc, const uint* a, ulong b, int adds) { \
    asm volatile(DUOGEMM_WGMMA(type, "%69", "{%64, %65, %66, %67}, %68") "0;}"                 \
                 : DUOGEMM_64_ACCUMULATORS(acc)                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));             \
  }                                                                                            \
  DUOGEMM_INLINE void duogemm_multiply_local_##piece(float* acc, ulong a, ulong b, int adds) { \
    asm volatile(DUOGEMM_WGMMA(type, "%66", "%64, %65") "0, 0;}"                               \
                 : DUOGEMM_64_ACCUMULATORS(acc)                                                \
                 : "l"(a), "l"(b), "r"(adds));                                                 \
  }
DUOGEMM_MULTIPLY_FUNCTIONS(F16, "f16")
DUOGEMM_MULTIPLY_FUNCTIONS(BF16, "bf16")
#define WARPGROUP_MULTIPLY(piece, acc, fragment, matrix, adds) \
  DUOGEMM_PIECE(multiply, piece)(acc, fragment, matrix, adds)
#define WARPGROUP_MULTIPLY_LOCAL(piece, acc, left, right, adds) \
  DUOGEMM_PIECE(multiply_local, piece)(acc, left, right, adds)
