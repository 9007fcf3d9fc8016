// Tiles of op(A) and op(B) on their way from global to local memory. All of it is for one operand, and used
// for both.
//
//   global memory, what of it is in a tile            local memory, a stage
//
//   stored directly: neighbours along m or n          TSK rows (k) of `size` columns (m or n)
//     0 0 1 1 2 2 3 3   a work-item copies vectors    +-----------------+
//     4 4 5 5 6 6 7 7   down a few columns            | k = 0           |
//   stored transposed: neighbours along k             | k = 1           |
//     0 0 0 0 1 1 1 1   a work-item reads along k,    | :               |
//     2 2 2 2 3 3 3 3   and stores down a column      +-----------------+
//
//   copy_direct.h             direct
//   copy_transposed.h         transposed through registers, in vectors
//   copy_transposed_async.h   transposed on the way, value by value and past the registers (TRANSPOSE_ASYNC)
//
// Work-items that read along one column of memory would store into one bank. So a row of the tile is
// swizzled: its columns are permuted by an exclusive or, another one for each of a few rows, and such stores
// meet no bank conflict. fragments.h undoes it.
//
// Columns beyond the edge of C are never used. Copies read others in their place, and no comparison is left
// in the loop over k. Rows beyond K, which only the last tile has, are predicated: no copy reads them. They
// are set to -0 in A and +0 in B: their product is -0, which changes no sum.
//
// Sizes are powers of two, and one of A's and B's may be three times that; so is WORK_ITEMS then. Where the
// other's copies do not come out even, a third of the work-items takes no part in them.
//
// `size` and `transposed` are constants wherever these functions are called.

// What distances that change from tile to tile are counted in: with BYTES, nothing is left to scale in the
// loop over k. Most settings are faster that way on an H200, by 2 percent, and some slower: compilers make
// something else of the rest of the loop too.
#if BYTES
#define UNIT ((int)sizeof(float))
#define FURTHER(from, units) ((const __global float*)((const __global char*)(from) + (units)))
#else
#define UNIT 1
#define FURTHER(from, units) ((from) + (units))
#endif

// --- Who copies what ---------------------------------------------------------------------------------------

// The greatest power of two that is not above x, and how many of `all` to take at once, of `most` that could.
#define POWER_OF_2(x) ((x) % 3 == 0 ? (x) / 3 * 2 : (x))
#define ABREAST(all, most) ((all) <= (most) ? (all) : (all) % 3 == 0 ? (most) : POWER_OF_2(most))

// Direct: work-items stand beside each other along a row, each with a vector of V columns, and so many rows
// are copied at once. A work-item has so many vectors in a row.
#define DIRECT_ABREAST(size) ABREAST((size) / V, WORK_ITEMS)
#define DIRECT_ROWS(size) POWER_OF_2(WORK_ITEMS / DIRECT_ABREAST(size))
#define DIRECT_PLACES(size) ((size) / V / DIRECT_ABREAST(size))
#define DIRECT_COPIERS(size) (DIRECT_ABREAST(size) * DIRECT_ROWS(size))

// Transposed: so many neighbouring work-items read along a column, each so many rows of it at once. Through
// registers it is two of them with vectors of four.
#if TRANSPOSE_ASYNC
#define ALONG_K LANES_K
#define PER_LANE 1
#else
#define ALONG_K 2
#define PER_LANE 4
#endif
#define TRANSPOSED_ABREAST(size) ABREAST(size, WORK_ITEMS / ALONG_K)  // columns at once
#define TRANSPOSED_ROWS(size) \
  (POWER_OF_2(WORK_ITEMS / ALONG_K / TRANSPOSED_ABREAST(size)) * (ALONG_K * PER_LANE))  // rows at once
#define TRANSPOSED_PLACES(size) ((size) / TRANSPOSED_ABREAST(size))  // columns of each work-item
#define TRANSPOSED_COPIERS(size) (TRANSPOSED_ABREAST(size) * (TRANSPOSED_ROWS(size) / PER_LANE))
#define TRANSPOSED_VALUES(size) (TRANSPOSED_PLACES(size) * (TSK / TRANSPOSED_ROWS(size)) * PER_LANE)

// The swizzle. 32 neighbours store TOGETHER columns: those stay together, and come to stand in another place
// in the other rows that they store, as far as there are so many places.
#if TRANSPOSE_ASYNC
#define TOGETHER (32 / LANES_K)
#define TOGETHER_PLACES(size) ((((size) % 3 == 0 ? (size) / 3 : (size)) + TOGETHER - 1) / TOGETHER)
#define TRANSPOSED_SWIZZLES(size) LEAST(TOGETHER_PLACES(size), LANES_K)
#define SWIZZLE(k, size) ((k) / (LANES_K / TRANSPOSED_SWIZZLES(size)) % TRANSPOSED_SWIZZLES(size) * TOGETHER)
#else
#define TOGETHER 16
#define TRANSPOSED_SWIZZLES(size) ((size) % 32 == 0 ? 2 : 1)
#define SWIZZLE(k, size) ((k) / 4 % TRANSPOSED_SWIZZLES(size) * TOGETHER)
#endif

// --- An operand --------------------------------------------------------------------------------------------

#define STAGE (TSK * (TSM + TSN))  // A's tile, then B's
#define LAST_STAGE ((STAGES - 1) * STAGE)
#define THROUGH_REGISTERS (!TRANSPOSE_ASYNC && (TRANS_A || !TRANS_B))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define COPY_PLACES(size, transposed) ((transposed) ? TRANSPOSED_PLACES(size) : DIRECT_PLACES(size))

typedef struct {
  // Where this work-item reads of the first tile, and how far the next tile is from there, in UNITs: for all
  // work-items alike. Pointers that move instead cost compilers more: to change a register that a copy reads
  // from, they have to wait, or to copy it.
  const __global float* from[GREATER(COPY_PLACES(TSM, TRANS_A), COPY_PLACES(TSN, !TRANS_B))];
  long next;
  long ld;
  LOCAL_PTR float* to;  // the first stage: where it writes there, or where a transposed tile begins
  int item;
  float beyond;  // what rows beyond K are
#if !TRANSPOSE_ASYNC
  float values[GREATER(TRANSPOSED_VALUES(TSM), TRANSPOSED_VALUES(TSN))];  // on their way through registers
#endif
} Operand;

// Which column is read for one of a tile: itself, or another if it is beyond the edge of C. Work-items read
// different ones instead of it, because copies from the same address wait for each other. Columns of a vector
// are all there or none is.
FUNCTION long
existing_column(const Span span, const int column, const int vector) {
  return EXISTING((span.first + column) / vector, (span.end + vector - 1) / vector) * vector;
}

// Which row and column of a transposed tile a work-item reads: the first, and its i-th.
FUNCTION int
transposed_row(const int item, const int size) {
  return item % ALONG_K * PER_LANE + item / ALONG_K / TRANSPOSED_ABREAST(size) * (ALONG_K * PER_LANE);
}
FUNCTION int
transposed_column(const int item, const int i, const int size) {
  return i * TRANSPOSED_ABREAST(size) + item / ALONG_K % TRANSPOSED_ABREAST(size);
}

FUNCTION void
transposed_begin(Operand* x, const __global float* matrix, const Span span, LOCAL_PTR float* tile,
                 const int size) {
  const int row = transposed_row(x->item, size);
  x->to = tile;
#pragma unroll
  for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
    x->from[i] = matrix + existing_column(span, transposed_column(x->item, i, size), 1) * x->ld + row;
  }
}

// Begins to copy `width` values, V or 1, of a row of a tile. A tile of which only `rows` rows are there is
// loaded and stored instead: so the loads of all its rows are on their way together. Copies would each be
// behind a branch of their own.
FUNCTION void
copy_values(const int width, LOCAL_PTR float* to, const __global float* from, const int row, const int rows,
            const float beyond) {
  if (rows >= TSK && width == V) {
    COPY_TO_LOCAL(V, to, from);
  } else if (rows >= TSK) {
    COPY_TO_LOCAL(1, to, from);
  } else {
#pragma unroll
    for (int i = 0; i < width; ++i) {
      to[i] = row < rows ? from[i] : beyond;
    }
  }
}

#include "gemm/tiled/copy_direct.h"
#if TRANSPOSE_ASYNC
#include "gemm/tiled/copy_transposed_async.h"
#else
#include "gemm/tiled/copy_transposed.h"
#endif

// --- What happens to a tile, however it is copied ----------------------------------------------------------

// `matrix` is where the first tile's row 0 (k) begins, if `span` began at 0.
FUNCTION void
begin_copies(Operand* x, const __global float* matrix, const long ld, const Span span, LOCAL_PTR float* tile,
             const int item, const float beyond, const int size, const int transposed) {
  x->next = 0;
  x->ld = ld;
  x->item = item;
  x->beyond = beyond;
  if (transposed) {
    transposed_begin(x, matrix, span, tile, size);
  } else {
    direct_begin(x, matrix, span, tile, size);
  }
}

// Copies a tile right into its stage, as far as that is possible, and moves on to the next. Of the tile,
// `rows` rows are there: a constant TSK where it is whole, so that no comparison is left.
FUNCTION void
copy_tile(Operand* x, const int stage, const int rows, const int size, const int transposed) {
  if (transposed) {
    transposed_copy(x, stage, rows, size);
  } else {
    direct_copy(x, stage, rows, size);
  }
}

// Of an operand that goes through registers: loads a tile while the one before it is on its way, and puts it
// into its stage one tile later.
FUNCTION void
load_tile(Operand* x, const int rows, const int size, const int transposed) {
  if (transposed && rows > 0) {
    transposed_load(x, rows, size);
  }
}
FUNCTION void
store_tile(const Operand* x, const int stage, const int rows, const int size, const int transposed) {
  if (transposed && rows > 0) {
    transposed_store(x, stage, size);
  }
}
