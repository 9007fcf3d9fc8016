// The host tells each kernel in a struct, its first argument, all but where its matrices are, by value. Host
// and kernels read this file, and lay the structs out alike: members have fixed sizes, and stand at multiples
// of them.
//
// Offsets, leading dimensions and strides are in elements.
// A matrix in its buffer, and where the other members of a batch are.
typedef struct {
  long offset;  // of the first element
  long ld;
  long stride;  // from one member of the batch to the next
} MatrixLayout;

// D <- alpha op(A) op(B) + beta C, where op(A) is M x K, op(B) is K x N, and C and D are M x N. D may be C. A
// leading dimension of 0 repeats one column, such as a bias. A kernel that does not use a member gets it all
// the same.
//
// GPUs fetch arguments in lines of 64 bytes, of which the first has 48, and a small product waits for each:
// all are in four lines with the matrices' addresses, which come last.
typedef struct {
  long M, N, K;
  long batch;
  float alpha, beta;
  long split_length;  // of k, which may be split
  MatrixLayout a, b;
  int group_m;  // if work-groups have tiles of D: those along M that come before the next along N
  int vectors;  // whether D and, if its address allows, C can be in float4
  int cluster;  // the work-groups, each with a split, that add them up
  MatrixLayout d, c;
  long split_stride;   // the distance in D between the results of two splits
  int tile_m, tile_n;  // on CPUs, a work-group's tile of D
} GemmArguments;

// D <- alpha (P0 + P1 + ...) + beta C. P holds the sums of `splits` splits of k for each member of the batch,
// each M x N with leading dimension ldp, one after the other.
typedef struct {
  long M, N;
  long splits;
  long p_offset;
  long ldp;
  float alpha, beta;
  MatrixLayout d, c;
  long batch;
} ReduceArguments;

// An operand to copy: Y becomes X or its transpose, which has `rows` rows, for each of `copies` members.
typedef struct {
  long rows;
  MatrixLayout x, y;
  long copies;
} PackOperand;
typedef struct {
  long cols;
  PackOperand first, second;
} PackArguments;

// D <- f(alpha T + beta C + bias).
typedef struct {
  long M, N;
  MatrixLayout t, c, d;
  long bias_offset;
  long bias_stride;
  long function;  // 0: none, 1: ReLU, 2: GELU
  long batch;
  float alpha, beta;
} FinishArguments;

// --- On tensor cores
// -----------------------------------------------------------------------------------------

#define PANEL 128  // rows of an operand whose terms and scales are together (see tensor/terms.h)

// A matrix X to split into terms Y: `rows` of m or n, stored with neighbours along k or along the rows side
// by side. Y has `panels` panels for each of `members`.
typedef struct {
  long rows;
  MatrixLayout x;
  long along_k;
  long y_offset;
  long panels;
  long members;
} SplitOperand;
// Both operands, `depth` along k, and how many counters of tiles, from an offset on, are to be set to zero.
typedef struct {
  long depth;
  SplitOperand a, b;
  long counters_offset;
  long counters;
} SplitArguments;

// An operand that is split.
typedef struct {
  long offset;
  long panels;
  long members;
} TermsLayout;

// The product of two such operands, in k_splits, which a cluster adds up, or else the last of them in the
// workspace at w_offset.
typedef struct {
  long M, N, K;
  TermsLayout a, b;
  MatrixLayout c, d;
  long batch;
  long k_splits;
  long clustered;
  long w_offset;
  long group_m;  // tiles along M before the next along N
  long pairs;    // whether C, if its address allows, and D can be read and written in float2
  float alpha, beta;
} TensorArguments;

// A product of which those tiles alone are computed that the tensor kernel has not: such a tile is
// a_panels_in_tile panels of A by one of B, and a panel has `blocks` scales, one after the other, from the
// operand's offset on.
typedef struct {
  GemmArguments product;
  TermsLayout a_scales, b_scales;
  long a_panels_in_tile;
  long blocks;
} FixupArguments;

#ifdef __cplusplus
static_assert(sizeof(long) == 8 && sizeof(GemmArguments) == 22 * 8 && sizeof(ReduceArguments) == 13 * 8 &&
                  sizeof(PackArguments) == 17 * 8 && sizeof(FinishArguments) == 16 * 8 &&
                  sizeof(SplitArguments) == 19 * 8 && sizeof(TensorArguments) == 22 * 8 &&
                  sizeof(FixupArguments) == 30 * 8,
              "host and kernels must lay the structs out alike");
#endif
