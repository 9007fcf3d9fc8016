// What the host gives the kernels for tensor cores (common/plan/lower_tensor.cpp fills in these very lists).

#define PANEL 128  // rows of an operand that have their pieces and scales together (see pieces.h)

// One operand of `split`: a matrix, `rows` of m or n, whose neighbours stand row_step and k_step apart; and
// where its pieces go, in so many panels for each of `members`.
#define SPLIT_OPERAND(POINTER, LONG, i)     \
  LONG(rows_##i)                            \
  POINTER(const __global float, X_##i)      \
  LONG(x_offset_##i)                        \
  LONG(row_step_##i)                        \
  LONG(k_step_##i)                          \
  LONG(x_stride_##i)                        \
  POINTER(const __global long, x_table_##i) \
  POINTER(__global uint, Y_##i)             \
  LONG(y_offset_##i)                        \
  LONG(panels_##i)                          \
  LONG(members_##i)
// Both, over `depth` of k, and the counters of tiles, to be set to zero.
#define SPLITTING(POINTER, LONG, SINGLE) \
  LONG(depth)                            \
  SPLIT_OPERAND(POINTER, LONG, 0)        \
  SPLIT_OPERAND(POINTER, LONG, 1)        \
  POINTER(__global uint, Z)              \
  LONG(z_offset)                         \
  LONG(counters)

// An operand in pieces.
#define PIECES_OF(POINTER, LONG, NAME, name) \
  POINTER(const __global uint, NAME)         \
  LONG(name##_offset)                        \
  LONG(name##_panels)                        \
  LONG(name##_members)
// The product of two such operands, in k_slices. Where these are a cluster, it adds up their sums; else these
// meet in the workspace W. Behind it, how many tiles along M come before the next along N, and whether C can
// be written in pairs.
#define PRODUCT_OF_PIECES(POINTER, LONG, SINGLE) \
  LONG(M)                                        \
  LONG(N)                                        \
  LONG(K)                                        \
  SINGLE(alpha)                                  \
  PIECES_OF(POINTER, LONG, A, a)                 \
  PIECES_OF(POINTER, LONG, B, b)                 \
  SINGLE(beta)                                   \
  MATRIX(POINTER, LONG, __global float, C, c)    \
  LONG(batch)                                    \
  LONG(k_slices)                                 \
  LONG(clustered)                                \
  POINTER(__global float, W)                     \
  LONG(w_offset)                                 \
  LONG(group_m)                                  \
  LONG(c_pairs)

// What `pipelined` is given behind its own arguments where it computes what the tensor kernel has left out.
// A tile of the tensor kernel is a_panels_in_tile panels of A by one of B. A panel has the scales of so many
// blocks along k behind each other.
#define SCALES_OF(POINTER, LONG, name)         \
  POINTER(const __global float, name##_scales) \
  LONG(name##_scales_offset)                   \
  LONG(name##_panels)                          \
  LONG(name##_split_members)
#define PATCHED(POINTER, LONG) \
  SCALES_OF(POINTER, LONG, a)  \
  SCALES_OF(POINTER, LONG, b)  \
  LONG(a_panels_in_tile)       \
  LONG(blocks)
