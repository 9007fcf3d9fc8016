// Transposes 4 x 4 elements: of four vectors, the first elements become the first vector, and so on. Each
// step takes halves, or every other element, of two vectors: one instruction on many a CPU. The host's
// compiler is told which.
#if !defined(TRANSPOSE_4X4)
#define TRANSPOSE_4X4(to0, to1, to2, to3, from0, from1, from2, from3)           \
  do {                                                                          \
    const float4 a = from0;                                                     \
    const float4 b = from1;                                                     \
    const float4 c = from2;                                                     \
    const float4 d = from3;                                                     \
    float4 ab_low, ab_high, cd_low, cd_high;                                    \
    ab_low.lo = a.lo, ab_low.hi = b.lo, ab_high.lo = a.hi, ab_high.hi = b.hi;   \
    cd_low.lo = c.lo, cd_low.hi = d.lo, cd_high.lo = c.hi, cd_high.hi = d.hi;   \
    to0.x = ab_low.x, to0.y = ab_low.z, to0.z = cd_low.x, to0.w = cd_low.z;     \
    to1.x = ab_low.y, to1.y = ab_low.w, to1.z = cd_low.y, to1.w = cd_low.w;     \
    to2.x = ab_high.x, to2.y = ab_high.z, to2.z = cd_high.x, to2.w = cd_high.z; \
    to3.x = ab_high.y, to3.y = ab_high.w, to3.z = cd_high.y, to3.w = cd_high.w; \
  } while (0)
#endif
