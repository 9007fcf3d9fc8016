// What every kernel that multiplies is given first, in the order of common/plan.h's product_arguments(): C <-
// alpha op(A) op(B) + beta C, where op(A) is M x K and op(B) is K x N. Offsets, leading dimensions and
// strides in elements.
#define PRODUCT(POINTER, LONG, SINGLE)  \
  LONG(M)                               \
  LONG(N)                               \
  LONG(K)                               \
  SINGLE(alpha)                         \
  POINTER(const __global float, A)      \
  LONG(a_offset)                        \
  LONG(lda)                             \
  LONG(a_stride)                        \
  POINTER(const __global long, a_table) \
  POINTER(const __global float, B)      \
  LONG(b_offset)                        \
  LONG(ldb)                             \
  LONG(b_stride)                        \
  POINTER(const __global long, b_table) \
  SINGLE(beta)                          \
  POINTER(__global float, C)            \
  LONG(c_offset)                        \
  LONG(ldc)                             \
  LONG(c_stride)                        \
  POINTER(const __global long, c_table) \
  LONG(batch)

// Where K may be split: how long a part is, and how far apart in C their results are.
#define PRODUCT_IN_PARTS(POINTER, LONG, SINGLE) \
  PRODUCT(POINTER, LONG, SINGLE) LONG(k_chunk) LONG(chunk_stride)

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
