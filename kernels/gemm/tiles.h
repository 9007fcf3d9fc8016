// Tiles of op(A) and op(B) on their way from global memory to local memory and on into registers.
//
// In local memory a tile has TSK rows (k) of `size` columns (m or n). It is filled in one of two ways:
//
//   direct      the matrix is stored as the tile is: neighbours in memory are neighbours along m or n
//   transposed  neighbours in memory are neighbours along k. Four of them are read at once and go one by one
//               to four rows of the tile, or, with TRANSPOSE_ASYNC, each is copied to its row by itself, past
//               the registers. Work-items that read along the same column would store into the same bank.
//               SWIZZLE permutes the columns of row k, so that there are no such bank conflicts.
//
// Columns beyond the edge of C are never used: copies read others in their place, and no comparison is left
// in the loop over k. They read different ones, because copies from the same address wait for each other.
// Rows beyond K are -0 in A and +0 in B: their product is -0, which changes no sum.
//
// A work-item keeps where it reads the first tile; `next` is how far the next one is from there, in UNITs,
// and the same for all work-items. Pointers that move instead cost compilers more: to change a register that
// a copy reads from, they have to wait, or to copy it.
//
// `size` and `vector` are constants wherever these functions are called; `tid` is the work-item's number, and
// WORK_ITEMS are in a work-group.
//
// Sizes are powers of two, and one of A's and B's may be three times that; so is WORK_ITEMS then. Where the
// other's copies do not come out even, a third of the work-items takes no part in them.

#include "gemm/existing.h"
#include "gemm/least.h"

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

// The greatest power of two that is not above x, and how many of `all` to take at once, of `most` that could.
#define POWER_OF_2(x) ((x) % 3 == 0 ? (x) / 3 * 2 : (x))
#define ABREAST(all, most) ((all) <= (most) ? (all) : (all) % 3 == 0 ? (most) : POWER_OF_2(most))
#define IS_AMONG(first) ((first) >= WORK_ITEMS || tid < (first))

// --- Direct: a work-item copies vectors of one or a few columns, down the rows --------------------------
#define DIRECT_ABREAST(size, vector) ABREAST((size) / (vector), WORK_ITEMS)  // work-items beside each other
#define DIRECT_PLACES(size, vector) ((size) / (vector) / DIRECT_ABREAST(size, vector))  // vectors of each
#define DIRECT_ROWS(size, vector) POWER_OF_2(WORK_ITEMS / DIRECT_ABREAST(size, vector))  // rows at once
#define DIRECT_COPIERS(size, vector) (DIRECT_ABREAST(size, vector) * DIRECT_ROWS(size, vector))
#define DIRECT_COLUMN(size, vector) (tid % DIRECT_ABREAST(size, vector) * (vector))  // its first vector
#define DIRECT_APART(size, vector) (DIRECT_ABREAST(size, vector) * (vector))  // columns to its next
#define DIRECT_ROW(size, vector) (tid / DIRECT_ABREAST(size, vector))

// Where in a tile a work-item begins to write.
#define DIRECT_PLACE(size, vector) (DIRECT_ROW(size, vector) * (size) + DIRECT_COLUMN(size, vector))

// The column that its i-th vector begins with; columns first to end - 1 are there.
#define DIRECT_SOURCE(size, vector, i)                                                           \
  (EXISTING((first + DIRECT_COLUMN(size, vector) + (i)*DIRECT_APART(size, vector)) / (vector), \
            (end + (vector)-1) / (vector)) *                                                       \
   (vector))

// from[i] becomes where a work-item begins to read its i-th vector.
FUNCTION void
direct_begin(const __global float** from, const __global float* matrix, const long ld, const long first,
               const long end, const int tid, const int size, const int vector) {
#pragma unroll
  for (int i = 0; i < DIRECT_PLACES(size, vector); ++i) {
    from[i] = matrix + DIRECT_ROW(size, vector) * ld + DIRECT_SOURCE(size, vector, i);
  }
}

// Begins to copy a tile all of whose rows are there, and moves on to the next. `place` is the work-item's
// first in the tile.
FUNCTION void
direct_copy(LOCAL_PTR float* place, const __global float** from, long* next, const long ld, const int tid,
              const int size, const int vector) {
  if (IS_AMONG(DIRECT_COPIERS(size, vector))) {
#pragma unroll
    for (int row = 0; row < TSK; row += DIRECT_ROWS(size, vector)) {
#pragma unroll
      for (int i = 0; i < DIRECT_PLACES(size, vector); ++i) {
        LOCAL_PTR float* to = place + (row * size + i * DIRECT_APART(size, vector));
        if (vector == 4) {
          COPY_TO_LOCAL(4, to, FURTHER(from[i], *next + row * ld * UNIT));
        } else if (vector == 2) {
          COPY_TO_LOCAL(2, to, FURTHER(from[i], *next + row * ld * UNIT));
        } else {
          COPY_TO_LOCAL(1, to, FURTHER(from[i], *next + row * ld * UNIT));
        }
      }
    }
  }
  *next += TSK * ld * UNIT;
}

// Copies a tile of which only `rows` rows are there.
FUNCTION void
direct_copy_rows(LOCAL_PTR float* place, const __global float** from, long* next, const long ld,
                   const int rows, const float fill, const int tid, const int size, const int vector) {
  if (IS_AMONG(DIRECT_COPIERS(size, vector))) {
#pragma unroll
    for (int row = 0; row < TSK; row += DIRECT_ROWS(size, vector)) {
      const bool is_there = row + DIRECT_ROW(size, vector) < rows;
#pragma unroll
      for (int i = 0; i < DIRECT_PLACES(size, vector); ++i) {
#pragma unroll
        for (int x = 0; x < vector; ++x) {
          place[row * size + i * DIRECT_APART(size, vector) + x] =
              is_there ? FURTHER(from[i], *next + row * ld * UNIT)[x] : fill;
        }
      }
    }
  }
  *next += TSK * ld * UNIT;
}

#if !TRANSPOSE_ASYNC
// --- Transposed through registers: a work-item reads four rows of one or a few columns ---------------------
#define TOGETHER 16  // columns that stay together
#define TRANSPOSED_SWIZZLES(size) ((size) % 32 == 0 ? 2 : 1)
#define SWIZZLE(k, size) ((k) / 4 % TRANSPOSED_SWIZZLES(size) * TOGETHER)
#define TRANSPOSED_ABREAST(size) ABREAST(size, WORK_ITEMS / 2)  // columns at once, by two work-items each
#define TRANSPOSED_PLACES(size) ((size) / TRANSPOSED_ABREAST(size))
#define TRANSPOSED_ROWS(size) (POWER_OF_2(WORK_ITEMS / 2 / TRANSPOSED_ABREAST(size)) * 8)  // rows at once
#define TRANSPOSED_COPIERS(size) (TRANSPOSED_ABREAST(size) * TRANSPOSED_ROWS(size) / 4)
#define TRANSPOSED_VALUES(size) (TRANSPOSED_PLACES(size) * (TSK / TRANSPOSED_ROWS(size)) * 4)
#define TRANSPOSED_COLUMN(size, i) ((i)*TRANSPOSED_ABREAST(size) + tid / 2 % TRANSPOSED_ABREAST(size))
#define TRANSPOSED_ROW(size) (tid % 2 * 4 + tid / 2 / TRANSPOSED_ABREAST(size) * 8)

// Reads what is there of a tile's rows, and moves on to the next tile.
FUNCTION void
transposed_load(float* values, const __global float** from, long* next, const int rows, const float fill,
            const int tid, const int size, const int vector) {
  if (IS_AMONG(TRANSPOSED_COPIERS(size))) {
#pragma unroll
    for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
#pragma unroll
      for (int row = 0; row < TSK; row += TRANSPOSED_ROWS(size)) {
        float* to = values + (i * TSK + row) / TRANSPOSED_ROWS(size) * 4;
        if (vector == 4 && rows >= TSK) {
          vstore4(*(const __global float4*)FURTHER(from[i], *next + row * UNIT), 0, to);
        } else {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            to[k] = rows >= TSK || row + TRANSPOSED_ROW(size) + k < rows
                        ? FURTHER(from[i], *next + row * UNIT)[k]
                        : fill;
          }
        }
      }
    }
  }
  *next += TSK * UNIT;
}

FUNCTION void
transposed_store(LOCAL_PTR float* tile, const float* values, const int tid, const int size) {
  if (IS_AMONG(TRANSPOSED_COPIERS(size))) {
#pragma unroll
    for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
#pragma unroll
      for (int row = 0; row < TSK; row += TRANSPOSED_ROWS(size)) {
        // The four rows of one work-item have the same swizzle.
        LOCAL_PTR float* to = tile + (row + TRANSPOSED_ROW(size)) * size +
                              (TRANSPOSED_COLUMN(size, i) ^ SWIZZLE(TRANSPOSED_ROW(size), size));
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          to[k * size] = values[(i * TSK + row) / TRANSPOSED_ROWS(size) * 4 + k];
        }
      }
    }
  }
}

#else
// --- Transposed on the way: LANES_K neighbouring work-items copy as many rows of a column ------------------
#define TRANSPOSED_ABREAST(size) ABREAST(size, WORK_ITEMS / LANES_K)  // columns at once
#define TRANSPOSED_PLACES(size) ((size) / TRANSPOSED_ABREAST(size))       // columns of each work-item
#define TRANSPOSED_ROWS(size) \
  (POWER_OF_2(WORK_ITEMS / LANES_K / TRANSPOSED_ABREAST(size)) * LANES_K)  // rows at once
#define TRANSPOSED_COPIERS(size) (TRANSPOSED_ABREAST(size) * TRANSPOSED_ROWS(size))
#define TRANSPOSED_COLUMN(size, i) ((i)*TRANSPOSED_ABREAST(size) + tid / LANES_K % TRANSPOSED_ABREAST(size))
#define TRANSPOSED_ROW(size) (tid % LANES_K + tid / LANES_K / TRANSPOSED_ABREAST(size) * LANES_K)

// 32 neighbours store TOGETHER columns of LANES_K rows. Those columns stay together, and come to stand in
// another place in each of the rows, as far as there are so many places.
#define TOGETHER (32 / LANES_K)
#define PLACES(size) ((size) % 3 == 0 ? (size) / 3 : (size))  // of which a swizzle leads to another
#define TRANSPOSED_SWIZZLES(size) LEAST((PLACES(size) + TOGETHER - 1) / TOGETHER, LANES_K)
#define SWIZZLE(k, size) ((k) / (LANES_K / TRANSPOSED_SWIZZLES(size)) % TRANSPOSED_SWIZZLES(size) * TOGETHER)

// TRANSPOSED_COLUMN, swizzled; by an addition where that is the same.
#define TRANSPOSED_PLACE(size, i)                                                                   \
  (TRANSPOSED_ABREAST(size) % 32 == 0                                                               \
       ? (i)*TRANSPOSED_ABREAST(size) + (TRANSPOSED_COLUMN(size, 0) ^ SWIZZLE(TRANSPOSED_ROW(size), size)) \
       : TRANSPOSED_COLUMN(size, i) ^ SWIZZLE(TRANSPOSED_ROW(size), size))

// Begins to copy a tile all of whose rows are there, and moves on to the next.
FUNCTION void
transposed_copy(LOCAL_PTR float* tile, const __global float** from, long* next, const int tid,
                const int size) {
  if (IS_AMONG(TRANSPOSED_COPIERS(size))) {
#pragma unroll
    for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
      LOCAL_PTR float* to = tile + TRANSPOSED_ROW(size) * size + TRANSPOSED_PLACE(size, i);
#pragma unroll
      for (int row = 0; row < TSK; row += TRANSPOSED_ROWS(size)) {
        COPY_TO_LOCAL(1, to + row * size, FURTHER(from[i], *next + row * UNIT));
      }
    }
  }
  *next += TSK * UNIT;
}

// Copies a tile of which only `rows` rows are there.
FUNCTION void
transposed_copy_rows(LOCAL_PTR float* tile, const __global float** from, long* next, const int rows,
                 const float fill, const int tid, const int size) {
  if (IS_AMONG(TRANSPOSED_COPIERS(size))) {
#pragma unroll
    for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
      LOCAL_PTR float* to = tile + TRANSPOSED_ROW(size) * size + TRANSPOSED_PLACE(size, i);
#pragma unroll
      for (int row = 0; row < TSK; row += TRANSPOSED_ROWS(size)) {
        to[row * size] = row + TRANSPOSED_ROW(size) < rows ? *FURTHER(from[i], *next + row * UNIT) : fill;
      }
    }
  }
  *next += TSK * UNIT;
}

#endif

FUNCTION void
transposed_begin(const __global float** from, const __global float* matrix, const long ld, const long first,
             const long end, const int tid, const int size) {
#pragma unroll
  for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
    const long column = first + TRANSPOSED_COLUMN(size, i);
    from[i] = matrix + EXISTING(column, end) * ld + TRANSPOSED_ROW(size);
  }
}

// --- Into registers ---------------------------------------------------------------------------------------
#define SWIZZLES(transposed, size) (BYTES && (transposed) ? TRANSPOSED_SWIZZLES(size) : 1)

// places[e] becomes where `column` stands in a row with the e-th swizzle. With BYTES, a compiler does not
// see what that was made from: it would join it with where the tile begins, and do so anew for each tile.
// Left apart, a load adds the two, which NVIDIA's can where one is the same for all work-items.
FUNCTION void
fragment_begin(int* places, const int column, const int transposed, const int size) {
#pragma unroll
  for (int e = 0; e < SWIZZLES(transposed, size); ++e) {
    places[e] = (column ^ (e * TOGETHER)) * UNIT;
#if BYTES
    OPAQUE(places[e]);
#endif
  }
}

// What a work-item needs of row k: `count` values, in quadruples that are `span` columns apart, from
// fragment_begin's column on.
FUNCTION void
load_fragment(float* fragment, const LOCAL_PTR float* tile, const int* places, const int k, const int count,
              const int span, const int transposed, const int size) {
#pragma unroll
  for (int i = 0; i < count / 4; ++i) {
    const int swizzle = transposed ? SWIZZLE(k, size) : 0;
#if BYTES
    // The bits of `away` beside those of e are none of the column's.
    const int away = i * span ^ swizzle;
    const int e = away / TOGETHER % SWIZZLES(transposed, size);
    const LOCAL_PTR float* row = tile + (k * size + away - e * TOGETHER);
    vstore4(*(const LOCAL_PTR float4*)((const LOCAL_PTR char*)row + places[e]), i, fragment);
#else
    // Which of these a compiler makes more of: with TRANSPOSE_ASYNC there are many swizzles.
    const int column = places[0];
    const int place = !TRANSPOSE_ASYNC || !transposed ? (column + i * span) ^ swizzle
                      : span % 32 == 0       ? (column ^ swizzle) + i * span
                                             : column ^ (i * span ^ swizzle);
    vstore4(*(const LOCAL_PTR float4*)(tile + k * size + place), i, fragment);
#endif
  }
}
