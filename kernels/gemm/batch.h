// A matrix among a kernel's parameters: which buffer, where it begins there, and where the members of a batch
// are (see below). `name` is its letter in small. Offsets, leading dimensions and strides in elements.
#define MATRIX(POINTER, LONG, type, NAME, name) \
  POINTER(type, NAME)                           \
  LONG(name##_offset)                           \
  LONG(ld##name)                                \
  LONG(name##_stride)                           \
  POINTER(const __global long, name##_table)

// What every kernel that multiplies is given first, in the order of common/plan.h's product_arguments(): C <-
// alpha op(A) op(B) + beta C, where op(A) is M x K and op(B) is K x N.
#define PRODUCT(POINTER, LONG, SINGLE)              \
  LONG(M)                                           \
  LONG(N)                                           \
  LONG(K)                                           \
  SINGLE(alpha)                                     \
  MATRIX(POINTER, LONG, const __global float, A, a) \
  MATRIX(POINTER, LONG, const __global float, B, b) \
  SINGLE(beta)                                      \
  MATRIX(POINTER, LONG, __global float, C, c)       \
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
