// What every kernel that multiplies is given first, in the order of common/plan.h's product_arguments(): C <-
// alpha op(A) op(B) + beta C, where op(A) is M x K and op(B) is K x N. Offsets, leading dimensions and
// strides in elements.
#define PRODUCT_PARAMETERS                                                                                   \
  const long M, const long N, const long K, const float alpha, const __global float *A, const long a_offset, \
      const long lda, const long a_stride, const __global long *a_table, const __global float *B,            \
      const long b_offset, const long ldb, const long b_stride, const __global long *b_table,                \
      const float beta, __global float *C, const long c_offset, const long ldc, const long c_stride,         \
      const __global long *c_table, const long batch

// Where the matrices of one member of the batch begin.
//
// BATCH 0: a stride apart. BATCH 1: a table holds the offset of each, in elements from `offset` on. BATCH 2:
// a table holds the address of each, and the buffer itself is the null address.
#if BATCH == 0
#define MEMBER(base, offset, stride, table, member) ((base) + (offset) + (member) * (stride))
#elif BATCH == 1
#define MEMBER(base, offset, stride, table, member) ((base) + (offset) + (table)[member])
#else
#define MEMBER(base, offset, stride, table, member) \
  ((base) + (offset) + (table)[member] / (long)sizeof(float))
#endif
