// Operations of NVIDIA's compute capability 9.0 (and of no other: PTX calls that target sm_90a), for kernels
// in which four neighbouring sub-groups, a warpgroup, multiply together while others bring operands.
// tensor_cores.h comes before it.
//
//   MBARRIER_INIT(barrier, n)  one work-item makes a barrier in local memory (an mbarrier), a ulong, for
//                              phases of n arrivals; MBARRIER_FENCE() and a work-group barrier show it to all
//   MBARRIER_ARRIVE(barrier)   one arrival; MBARRIER_ARRIVE_EXPECT(barrier, bytes) makes the phase wait for
//                              this many bytes of bulk copies, too
//   MBARRIER_WAIT(barrier, parity)
//                              waits until the phase with this parity, 0 for the first, is over
//   COPY_BULK(to, from, bytes, barrier)
//                              begins to copy from global to local memory, both aligned to 16 bytes; the
//                              barrier counts the bytes as they arrive
//   RELEASE_REGISTERS(n), ACQUIRE_REGISTERS(n)
//                              a warpgroup keeps n registers for each work-item, or takes as many
//   WARPGROUP_ARRIVE()         before the first product of a group, and when registers of one were written
//   WARPGROUP_COMMIT(), WARPGROUP_WAIT()
//                              closes a group of products; waits until all of them are done
//   WARPGROUP_MULTIPLY(term, n, acc, fragment, matrix, adds)
//                              acc, 64 x n, float acc[n / 2], becomes the product of 64 x 16 terms in
//                              registers and 16 x n in local memory, or, where `adds` is not 0, that is
//                              added to it; n is 64 or 128, or a macro that says so
//   WARPGROUP_MULTIPLY_LOCAL(term, n, acc, left, right, adds)
//                              the same with both in local memory
//   LOCAL_MATRIX(address, row_bytes)
//                              describes such a matrix: rows of 64 or 128 bytes along k, swizzled by 16 bytes
//                              as the PTX ISA draws it ("Shared Memory Matrix Layout"), from a multiple of
//                              1024 bytes on; adding 2 goes on by 16 terms along k
//   NAMED_BARRIER(id, n)    a barrier for n work-items of the work-group, whole sub-groups; id is 1 to 15.
//                              NAMED_BARRIER_ARRIVE(id, n) is counted among the n and does not wait
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
#define MBARRIER_WAIT(barrier, parity)                  \
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
#define NAMED_BARRIER(id, count) asm volatile("bar.sync %0, %1;" : : "r"(id), "n"((int)(count)) : "memory")
#define NAMED_BARRIER_ARRIVE(id, count) \
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "n"((int)(count)) : "memory")
// --- Products of warpgroups ------------------------------------------------------------------------------
#define RELEASE_REGISTERS(count) \
  asm volatile(DUOGEMM_90A "setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"((int)(count)))
#define ACQUIRE_REGISTERS(count) \
  asm volatile(DUOGEMM_90A "setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"((int)(count)))
#define WARPGROUP_ARRIVE() asm volatile(DUOGEMM_90A "wgmma.fence.sync.aligned;" : : : "memory")
#define WARPGROUP_COMMIT() asm volatile(DUOGEMM_90A "wgmma.commit_group.sync.aligned;" : : : "memory")
#define WARPGROUP_WAIT() asm volatile(DUOGEMM_90A "wgmma.wait_group.sync.aligned 0;" : : : "memory")

// Bits 0 to 13 the address and 32 to 45 the distance of eight rows, both in 16 bytes; 62 and 63 the swizzle.
#define LOCAL_MATRIX(address, row_bytes)                                                     \
  ((ulong)(((address)&0x3ffffu) >> 4) | (ulong)1 << 16 | (ulong)((row_bytes)*8 / 16) << 32 | \
   (ulong)((row_bytes) == 128 ? 1 : 2) << 62)

#define DUOGEMM_8_ACCUMULATORS(acc, i)                                                                    \
  "+f"((acc)[i]), "+f"((acc)[(i) + 1]), "+f"((acc)[(i) + 2]), "+f"((acc)[(i) + 3]), "+f"((acc)[(i) + 4]), \
      "+f"((acc)[(i) + 5]), "+f"((acc)[(i) + 6]), "+f"((acc)[(i) + 7])
#define DUOGEMM_ACCUMULATORS_64(acc)                                                               \
  DUOGEMM_8_ACCUMULATORS(acc, 0), DUOGEMM_8_ACCUMULATORS(acc, 8), DUOGEMM_8_ACCUMULATORS(acc, 16), \
      DUOGEMM_8_ACCUMULATORS(acc, 24)
#define DUOGEMM_ACCUMULATORS_128(acc)                                                             \
  DUOGEMM_ACCUMULATORS_64(acc), DUOGEMM_8_ACCUMULATORS(acc, 32), DUOGEMM_8_ACCUMULATORS(acc, 40), \
      DUOGEMM_8_ACCUMULATORS(acc, 48), DUOGEMM_8_ACCUMULATORS(acc, 56)
#define DUOGEMM_OPERANDS_64                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, " \
  "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define DUOGEMM_OPERANDS_128                                                                          \
  DUOGEMM_OPERANDS_64                                                                                 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, " \
  "%51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// One line, so that it is one comment.
#define DUOGEMM_WGMMA(type, n, number, operands)                                                        \
  DUOGEMM_90A "{.reg .pred p; setp.ne.s32 p, " number                                                   \
              ", 0; "                                                                                   \
              "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" DUOGEMM_OPERANDS_##n \
      "}, " operands ", p, 1, 1, "

#define DUOGEMM_MULTIPLY_FUNCTIONS(term, type, n, in_registers, adds_them, in_memory, adds_that)    \
  DUOGEMM_INLINE void duogemm_multiply_##n##_##term(float* acc, const uint* a, ulong b, int adds) { \
    asm volatile(DUOGEMM_WGMMA(type, n, adds_them, in_registers) "0;}"                              \
                 : DUOGEMM_ACCUMULATORS_##n(acc)                                                    \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));                  \
  }                                                                                                 \
  DUOGEMM_INLINE void duogemm_multiply_local_##n##_##term(float* acc, ulong a, ulong b, int adds) { \
    asm volatile(DUOGEMM_WGMMA(type, n, adds_that, in_memory) "0, 0;}"                              \
                 : DUOGEMM_ACCUMULATORS_##n(acc)                                                    \
                 : "l"(a), "l"(b), "r"(adds));                                                      \
  }
#define DUOGEMM_MULTIPLY_WIDTHS(term, type)                                                         \
  DUOGEMM_MULTIPLY_FUNCTIONS(term, type, 64, "{%32, %33, %34, %35}, %36", "%37", "%32, %33", "%34") \
  DUOGEMM_MULTIPLY_FUNCTIONS(term, type, 128, "{%64, %65, %66, %67}, %68", "%69", "%64, %65", "%66")
DUOGEMM_MULTIPLY_WIDTHS(F16, "f16")
DUOGEMM_MULTIPLY_WIDTHS(BF16, "bf16")
#define WARPGROUP_MULTIPLY(term, n, acc, fragment, matrix, adds) \
  DUOGEMM_MULTIPLY_OF_WIDTH(multiply, n, term)(acc, fragment, matrix, adds)
#define WARPGROUP_MULTIPLY_LOCAL(term, n, acc, left, right, adds) \
  DUOGEMM_MULTIPLY_OF_WIDTH(multiply_local, n, term)(acc, left, right, adds)
#define DUOGEMM_MULTIPLY_OF_WIDTH(what, n, term) DUOGEMM_MULTIPLY_NAME(what, n, term)
#define DUOGEMM_MULTIPLY_NAME(what, n, term) duogemm_##what##_##n##_##term
