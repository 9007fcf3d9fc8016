// Operations of NVIDIA's compute capability 8.0 and newer, for kernels that multiply terms of FP32 numbers,
// F16 or BF16, on tensor cores.
//
//   PACK(term, first, second) two floats, each rounded to the nearest F16 or BF16, as `term` says, in a
//                              uint; FIRST(term, pair) and SECOND(term, pair) are those two as floats
//   LOAD_FRAGMENT(fragment, from)
//                              a sub-group's 16 x 16 block of terms into registers, uint fragment[4].
//                              Work-item 8 i + j of the sub-group says where row j of the i-th 8 x 8 block is
//   MULTIPLY_BLOCK(term, c, a, b)
//                              adds to a 16 x 8 block of floats the product of 16 x 16 and 16 x 8 blocks of
//                              terms, on tensor cores. All 32 work-items of a sub-group say it together,
//                              each with its share, float c[4], uint a[4] and uint b[2]; the PTX ISA draws
//                              the shares under "mma.m16n8k16"
//   DYNAMIC_LOCAL(type, name, length, alignment)
//                              declares an array in local memory that may be longer than 48 KiB: through CUDA
//                              the launch says how long it is (Geometry::dynamic_local_bytes)
//   LOCAL_ADDRESS(pointer)     the address in local memory as 32 bits
//   SUB_GROUP_BARRIER()        for the 32 work-items of a sub-group, and what they wrote to local memory
//   ANY_IN_SUB_GROUP(condition), SUB_GROUP_MAX(value)
//                              whether it holds for any, and the largest uint of all 32 work-items
//   DEVICE_FENCE()             the whole device sees what this work-item wrote before ahead of what it writes
//                              after
//   ATOMIC_INCREMENT(counter)  adds one to an int in global memory, and answers what it was before

#if !defined(DUOGEMM_HAS_ASYNC_COPY) && !(defined(DUOGEMM_TARGET_CUDA) && !defined(__CUDA_ARCH__))
#error "unsupported: tensor cores need an NVIDIA device of compute capability 8.0 or higher"
#endif

#define LOCAL_ADDRESS(pointer) DUOGEMM_LOCAL_ADDRESS(pointer)
#if defined(DUOGEMM_TARGET_CUDA)
#define DYNAMIC_LOCAL(type, name, length, alignment) \
  extern __shared__ __align__(alignment)             \
  type name[]
#else
#define DYNAMIC_LOCAL(type, name, length, alignment) \
  __local type name[length] __attribute__((aligned(alignment)))
#endif

// --- Terms ----------------------------------------------------------------------------------------------
#define PACK(term, first, second) DUOGEMM_TERM(pack, term)(first, second)
#define FIRST(term, pair) DUOGEMM_TERM(first, term)(pair)
#define SECOND(term, pair) DUOGEMM_TERM(second, term)(pair)
#define DUOGEMM_TERM(what, term) DUOGEMM_TERM_NAME(what, term)
#define DUOGEMM_TERM_NAME(what, term) duogemm_##what##_##term

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

// --- Products --------------------------------------------------------------------------------------------
DUOGEMM_INLINE void duogemm_load_fragment(uint* fragment, uint from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(from)
               : "memory");
}
#define LOAD_FRAGMENT(fragment, from) duogemm_load_fragment(fragment, from)

#define DUOGEMM_MULTIPLY_BLOCK_FUNCTION(term, type)                                           \
  DUOGEMM_INLINE void duogemm_multiply_block_##term(float* c, const uint* a, const uint* b) { \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                                \
        ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                      \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                  \
  }
DUOGEMM_MULTIPLY_BLOCK_FUNCTION(F16, "f16")
DUOGEMM_MULTIPLY_BLOCK_FUNCTION(BF16, "bf16")
#define MULTIPLY_BLOCK(term, c, a, b) DUOGEMM_TERM(multiply_block, term)(c, a, b)

// --- Work-items together ---------------------------------------------------------------------------------
#define DEVICE_FENCE() asm volatile("fence.acq_rel.gpu;" : : : "memory")

#define SUB_GROUP_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" : : : "memory")

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
