// The host tells each kernel in a struct, its first argument, all but where its matrices are, by value. Host
// and kernels read this file, and lay the structs out alike: members have fixed sizes, and stand at multiples
// of them.
//
// Offsets, leading dimensions and strides are in elements.

// OpenCL's long, which a C++ compiler for Windows makes 32 bits of.
#if defined(__INT64_TYPE__) && !defined(long)
typedef __INT64_TYPE__ Int64;
#else
typedef long Int64;
#endif

// A matrix in its buffer, and where the other members of a batch are.
typedef struct {
  Int64 offset;  // of the first element
  Int64 ld;
  Int64 stride;  // from one member of the batch to the next
} MatrixLayout;

// D <- alpha op(A) op(B) + beta C, where op(A) is M x K, op(B) is K x N, and C and D are M x N. D may be C. A
// leading dimension of 0 repeats one column, such as a bias. A kernel that does not use a member gets it all
// the same.
//
// GPUs fetch arguments in lines of 64 bytes, of which the first has 48, and a small product waits for each:
// all are in four lines with the matrices' addresses, which come last.
typedef struct {
  Int64 M, N, K;
  Int64 batch;
  float alpha, beta;
  Int64 split_length;  // of k, which may be split
  MatrixLayout a, b;
  int group_m;  // if work-groups have tiles of D: those along M that come before the next along N
  int vectors;  // whether D and, if its address allows, C can be in float4
  int cluster;  // the work-groups, each with a split, that add them up
  MatrixLayout d, c;
  Int64 split_stride;  // the distance in D between the results of two splits
  int tile_m, tile_n;  // on CPUs, a work-group's tile of D
} GemmArguments;

// D <- alpha (P0 + P1 + ...) + beta C. P holds the sums of `splits` splits of k for each member of the batch,
// each M x N with leading dimension ldp, one after the other.
typedef struct {
  Int64 M, N;
  Int64 splits;
  Int64 p_offset;
  Int64 ldp;
  float alpha, beta;
  MatrixLayout d, c;
  Int64 batch;
} ReduceArguments;

// An operand to copy: Y becomes X or its transpose, which has `rows` rows and `cols` columns, for each of
// `copies` members. X's elements are of that type, as sgemm.hpp numbers them, and Y's are FP32.
typedef struct {
  Int64 rows, cols;
  MatrixLayout x, y;
  Int64 copies;
  Int64 type;
} PackOperand;
typedef struct {
  PackOperand first, second;
} PackArguments;

// D <- f(alpha T + beta C + bias). C and D have elements of one type, the others FP32.
typedef struct {
  Int64 M, N;
  MatrixLayout t, c, d;
  Int64 bias_offset;
  Int64 bias_stride;
  Int64 function;  // as sgemm.hpp numbers activations
  Int64 type;      // of C and D
  Int64 batch;
  float alpha, beta;
} FinishArguments;

// --- Grouped products
// ----------------------------------------------------------------------------------------

// The columns of B and D belong to groups, one after the other, and each group has an A of its own: the
// members of a batch. A tile of D has columns of one group: from the first on, and none from the end on. Of
// some tiles the end is no further than the first.
typedef struct {
  int group;
  int first;
  int end;
  int unused;
} GroupTile;

// Group g has the columns before the g-th of the ends that no group before it has. Tiles are that wide.
typedef struct {
  Int64 ends_offset;
  Int64 tiles_offset;
  int groups;
  int columns;
  int width;
  int tiles;
} GroupTilesArguments;

// A grouped product: N is the width of all tiles together.
typedef struct {
  GemmArguments product;
  Int64 tiles_offset;
} GroupedArguments;

// --- On tensor cores --------------------------------------------------------------------------------------

#define PANEL 128     // rows of an operand whose terms and scales are together (see tensor/terms.h)
#define STRIP_ROWS 8  // rows of a panel that a work-group of split.cl has where rows have scales
// Local memory that the stages of tensor.cl take at most, in bytes. As many are there as it has room for:
// more than the sums of a tile need, which a cluster puts in their place.
#define ROOM_FOR_STAGES (218 * 1024)
#define EXCHANGED 256  // sums that a sub-group exchanges at once, in local memory (see tensor/result.h)

// A matrix X to split into terms Y: `rows` of m or n, stored with neighbours along k or along the rows side
// by side, with elements of that type. Y has `panels` panels for each of `members`, and of each value that
// many terms.
typedef struct {
  Int64 rows;
  MatrixLayout x;
  Int64 type;
  Int64 along_k;
  Int64 y_offset;
  Int64 panels;
  Int64 members;
  Int64 terms;
} SplitOperand;
// Both operands, `depth` along k, of whose blocks a work-group has blocks_of_group, and how many counters of
// tiles, from an offset on, are to be set to zero.
typedef struct {
  Int64 depth;
  Int64 blocks_of_group;
  SplitOperand a, b;
  Int64 counters_offset;
  Int64 counters;
  Int64 tiles_offset;  // of a grouped product, whose tiles are panels of B; below 0 for another product
} SplitArguments;

// An operand that is split.
typedef struct {
  Int64 offset;
  Int64 panels;
  Int64 members;
} TermsLayout;

// The product of two such operands, in k_splits, which a cluster adds up, or else the last of them in the
// workspace at w_offset.
typedef struct {
  Int64 M, N, K;
  TermsLayout a, b;
  MatrixLayout c, d;
  Int64 batch;
  Int64 w_offset;
  Int64 tiles_offset;  // as there; of a grouped product, N is the width of all tiles
  int k_splits;
  int clustered;
  int group_m;  // tiles along M before the next along N
  float alpha, beta;
  int by_rows;  // whether rows of A and B have scales, and not blocks of them
} TensorArguments;

// An operand whose elements have 16 bits: what a tile needs of it is first copied to FP32.
typedef struct {
  MatrixLayout x;
  Int64 type;
} NarrowOperand;
// A product of which those tiles alone are computed that the tensor kernel has not: such a tile is
// a_panels_in_tile panels of A by one of B, and a panel has `blocks` scales, one after the other, from the
// operand's offset on.
typedef struct {
  GemmArguments product;
  NarrowOperand a, b;
  TermsLayout a_scales, b_scales;
  Int64 a_panels_in_tile;
  Int64 blocks;
  Int64 tiles_offset;  // as there
  Int64 by_rows;       // the scales are those of rows
} FixupArguments;

#ifdef __cplusplus
static_assert(sizeof(Int64) == 8 && sizeof(GemmArguments) == 22 * 8 && sizeof(ReduceArguments) == 13 * 8 &&
                  sizeof(PackArguments) == 20 * 8 && sizeof(FinishArguments) == 17 * 8 &&
                  sizeof(GroupTile) == 2 * 8 && sizeof(GroupTilesArguments) == 4 * 8 &&
                  sizeof(GroupedArguments) == 23 * 8 && sizeof(SplitArguments) == 25 * 8 &&
                  sizeof(TensorArguments) == 21 * 8 && sizeof(FixupArguments) == 40 * 8,
              "host and kernels must lay the structs out alike");
#endif
