// A matrix among a kernel's parameters: which buffer, where it begins there, and where the members of a batch
// are (see below). `name` is its letter in small. Offsets, leading dimensions and strides in elements.
#define MATRIX(POINTER, LONG, type, NAME, name) \
  POINTER(type, NAME)                           \
  LONG(name##_offset)                           \
  LONG(ld##name)                                \
  LONG(name##_stride)                           \
  POINTER(const __global long, name##_table)

// What every kernel that multiplies is given first: C <- alpha op(A) op(B) + beta C, where op(A) is M x K and
// op(B) is K x N. The host fills in this very list (common/plan/plan.cpp), and the next ones.
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

// Where K may be split: how long a part is, how far apart in C their results are, and how many work-groups,
// which have one part each, form a cluster that adds them up (see cluster.h).
#define K_SLICE(LONG) LONG(k_chunk) LONG(chunk_stride) LONG(cluster)
#define PRODUCT_IN_SLICES(POINTER, LONG, SINGLE) PRODUCT(POINTER, LONG, SINGLE) K_SLICE(LONG)

// Of kernels whose work-groups have tiles of C: how many tiles along M come before the next along N, and
// whether C can be written in vectors of four.
#define TILE_ORDER(LONG) LONG(group_m) LONG(c_vectors)

// Of the kernels for CPUs: a work-group's tile of C is tile_m x tile_n.
#define CPU_TILE(LONG) LONG(tile_m) LONG(tile_n)

// Where the matrices of one member of the batch begin: a stride apart, or where a table says. It holds the
// offset of each in elements, from `offset` on, or the address of each if the buffer itself is the null
// address.
#define MEMBER(base, offset, stride, table, member) \
  ((base) + (offset) + ((table) == 0 ? (member) * (stride) : (table)[member] >> ((base) == 0 ? 2 : 0)))
