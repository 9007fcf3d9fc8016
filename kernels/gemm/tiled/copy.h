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
// Work-items that read along one column of memory would store into one bank. So a row of the tile is
// swizzled: its columns are permuted by an exclusive or, another one for each of a few rows, and such stores
// meet no bank conflict. fragments.h undoes it.
//
// With K_MAJOR, what is stored transposed is copied as it is, vectors and all, and transposed in registers
// (here with TSK 32):
//
//   global memory                                     local memory, a stage
//     0 0 0 0 1 1 1 1   neighbours copy along k       +------------------------------------+
//     2 2 2 2 3 3 3 3   what is side by side          | column 0:  k = 0 .. 3  | 4 .. 7 |..|  slot 0
//                                                     | column 4:  k = 8 .. 11 | ..     |..|  slot 1
//                                                     | :                                  |  :
//
// Work-items then read fours of k from columns that are four apart. Such columns stand in slots side by side,
// and their fours are permuted by an exclusive or. So neither eight neighbours that read a four each meet in
// a bank, nor 32 that copy eight values of four columns.
//
// Columns beyond the edge of C are never used. Copies read others in their place, and no comparison is left
// in the loop over k. Rows beyond K, which only the last tile has, are predicated: no copy reads them. They
// are set to -0 in A and +0 in B: their product is -0, which changes no sum.
//
// Sizes are powers of two, and one of A's and B's may be three times that; so is WORK_ITEMS then. Where the
// other's copies do not come out even, or there are fewer, some work-items take no part in them.
//
// `size` and `transposed` are constants wherever these functions are called.

// Distances that change from tile to tile are counted in bytes with BYTES, so that nothing is left to scale
// in the loop over k. Most settings are faster that way on an H200, by 2 percent, and some slower: compilers
// make something else of the rest of the loop, too.
enum { UNIT = BYTES ? (int)sizeof(float) : 1 };
FUNCTION const __global float*
further(const __global float* from, const long units) {
  return BYTES ? (const __global float*)((const __global char*)from + units) : from + units;
}

// --- Who copies what ---------------------------------------------------------------------------------------
//
// A work-item copies float4 or single values: of a transposed tile, LANES_ALONG_K neighbours read along a
// column of memory, each ROWS_OF_LANE rows (k). Four numbers say the rest of a tile: how many columns (or
// vectors of V) the work-items copy at once, how many rows, how many columns each work-item has, and how many
// work-items take part.
enum { LANES_ALONG_K = K_MAJOR ? LEAST(8, TSK / V) : 2, ROWS_OF_LANE = K_MAJOR ? V : 4 };
#define ALONG_K(transposed) ((transposed) ? LANES_ALONG_K : 1)
#define ROWS_OF_ITEM(transposed) ((transposed) ? ROWS_OF_LANE : 1)
#define COPY_WIDTH(transposed) ((transposed) ? 1 : V)     // in columns
#define POWER_OF_2(x) ((x) % 3 == 0 ? (x) / 3 * 2 : (x))  // not above x
#define AT_ONCE(all, most) ((all) <= (most) ? (all) : (all) % 3 == 0 ? (most) : POWER_OF_2(most))

#define COPY_COLUMNS(size, transposed) \
  AT_ONCE((size) / COPY_WIDTH(transposed), WORK_ITEMS / ALONG_K(transposed))
#define COPY_ROWS(size, transposed)                                                          \
  LEAST(TSK, POWER_OF_2(WORK_ITEMS / ALONG_K(transposed) / COPY_COLUMNS(size, transposed)) * \
                 (ALONG_K(transposed) * ROWS_OF_ITEM(transposed)))
#define COPIES_OF_ITEM(size, transposed) ((size) / COPY_WIDTH(transposed) / COPY_COLUMNS(size, transposed))
#define COPIERS(size, transposed) \
  (COPY_COLUMNS(size, transposed) * (COPY_ROWS(size, transposed) / ROWS_OF_ITEM(transposed)))

// The first row of a tile that a work-item copies, and the first of its i-th columns.
FUNCTION int
copied_row(const int item, const int size, const int transposed) {
  return item % ALONG_K(transposed) * ROWS_OF_ITEM(transposed) +
         item / ALONG_K(transposed) / COPY_COLUMNS(size, transposed) *
             (ALONG_K(transposed) * ROWS_OF_ITEM(transposed));
}
FUNCTION int
copied_column(const int item, const int i, const int size, const int transposed) {
  return (i * COPY_COLUMNS(size, transposed) + item / ALONG_K(transposed) % COPY_COLUMNS(size, transposed)) *
         COPY_WIDTH(transposed);
}

// The swizzle of a tile that is transposed on its way. 32 neighbours store TOGETHER columns: those stay
// together, and come to stand elsewhere in every other four rows, if there is room.
enum { TOGETHER = 16 };
#define SWIZZLES(size) ((size) % 32 == 0 ? 2 : 1)
FUNCTION int
swizzle_of(const int k, const int size) {
  return k / 4 % SWIZZLES(size) * TOGETHER;
}

// With K_MAJOR, work-items side by side, `lanes` of them, read columns that are four apart. These functions
// answer the slot of a column, and the column in a slot. They answer what the fours of a slot are permuted
// by, which is the same eight slots on, and where the k-th row of a slot is.
FUNCTION int
slot_of(const int column, const int lanes) {
  const int in_block = column % (4 * lanes);
  return column - in_block + in_block % 4 * lanes + in_block / 4;
}
FUNCTION int
column_in(const int slot, const int lanes) {
  const int in_block = slot % (4 * lanes);
  return slot - in_block + in_block % lanes * 4 + in_block / lanes;
}
FUNCTION int
swizzle_of_slot(const int slot) {
  const int number = slot / (32 / TSK) % (TSK / 4);
  return (number % (TSK / 8) * 2 + number / (TSK / 8)) * 4;
}
FUNCTION int
position_in_slot(const int slot, const int k) {
  return slot * TSK + (k ^ swizzle_of_slot(slot));
}
// Where a work-item's i-th copy goes, into a slot of that number: by an addition to where one of the first
// goes, eight slots or a multiple of them before.
FUNCTION int
copied_position(const int item, const int i, const int row, const int size) {
  const int at_once = COPY_COLUMNS(size, 1);
  const int turns = at_once % 8 == 0 ? 1 : 2;  // a multiple of 4 else
  return position_in_slot(copied_column(item, i % turns, size, 1), copied_row(item, size, 1) + row) +
         (i - i % turns) * at_once * TSK;
}

// --- An operand --------------------------------------------------------------------------------------------

enum {
  STAGE = TSK * (TSM + TSN),  // A's tile, then B's
  LAST_STAGE = (STAGES - 1) * STAGE,
  THROUGH_REGISTERS = !K_MAJOR && (TRANS_A || !TRANS_B)
};
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define VALUES_OF_ITEM(size) (COPIES_OF_ITEM(size, 1) * (TSK / COPY_ROWS(size, 1)) * ROWS_OF_LANE)

typedef struct {
  // This work-item reads from here of the first tile; and how far the next tile is from there, in UNITs: for
  // all work-items alike. Pointers that move instead cost compilers more: to change a register that a copy
  // reads from, they have to wait, or to copy it.
  const __global float* from[GREATER(COPIES_OF_ITEM(TSM, TRANS_A), COPIES_OF_ITEM(TSN, !TRANS_B))];
  long next;
  long ld;
  LOCAL_PTR float* to;  // the first stage: where it writes there, or where a transposed tile begins
  int item;
  float beyond;  // what rows beyond K are
#if !K_MAJOR
  float values[GREATER(VALUES_OF_ITEM(TSM), VALUES_OF_ITEM(TSN))];  // on their way through registers
#endif
} Operand;

// The column that is read for one of a tile: itself, or another if it is beyond the edge of C. Work-items
// read different ones instead of it, because copies from the same address wait for each other. Columns of a
// vector are all there or none is.
FUNCTION long
existing_column(const Span span, const int column, const int vector) {
  return EXISTING((span.first + column) / vector, (span.end + vector - 1) / vector) * vector;
}

// `matrix` is where the first tile's row 0 (k) begins, if `span` began at 0.
FUNCTION void
begin_copies(Operand* x, const __global float* matrix, const long ld, const Span span, LOCAL_PTR float* tile,
             const int item, const float beyond, const int size, const int transposed, const int lanes) {
  const int row = copied_row(item, size, transposed);
  x->next = 0;
  x->ld = ld;
  x->item = item;
  x->beyond = beyond;
  x->to = transposed ? tile : tile + (row * size + copied_column(item, 0, size, 0));
#pragma unroll
  for (int i = 0; i < COPIES_OF_ITEM(size, transposed); ++i) {
    const int copied = copied_column(item, i, size, transposed);
    const long column = existing_column(span, transposed && K_MAJOR ? column_in(copied, lanes) : copied,
                                        COPY_WIDTH(transposed));
    x->from[i] = transposed ? matrix + column * ld + row : matrix + row * ld + column;
  }
}

FUNCTION bool
takes_part(const Operand* x, const int size, const int transposed) {
  return COPIERS(size, transposed) >= WORK_ITEMS || x->item < COPIERS(size, transposed);
}

// --- Right into local memory -------------------------------------------------------------------------------

// Begins to copy V values of a tile, down a column or along a row, of which the first is in the row-th row. A
// tile of which only `rows` rows are there is loaded and stored instead: so the loads of all its rows are on
// their way together. Copies would each be in a branch of their own.
FUNCTION void
copy_values(LOCAL_PTR float* to, const __global float* from, const int row, const int rows,
            const int transposed, const float beyond) {
  if (rows >= TSK) {
    COPY_TO_LOCAL(V, to, from);
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) {
      to[i] = row + i * transposed < rows ? from[i] : beyond;
    }
  }
}

// Copies a tile into its stage, unless it goes through registers, and moves on to the next. Of the tile,
// `rows` rows are there: a constant TSK where it is whole, so that no comparison is left.
FUNCTION void
copy_tile(Operand* x, const int stage, const int rows, const int size, const int transposed) {
  if (transposed && !K_MAJOR) {
    return;
  }
  const long next_row = transposed ? UNIT : x->ld * UNIT;
  if (takes_part(x, size, transposed)) {
    const int first = copied_row(x->item, size, transposed);
#pragma unroll
    for (int row = 0; row < TSK; row += COPY_ROWS(size, transposed)) {
#pragma unroll
      for (int i = 0; i < COPIES_OF_ITEM(size, transposed); ++i) {
        LOCAL_PTR float* to = x->to + stage +
                              (transposed ? copied_position(x->item, i, row, size)
                                          : row * size + i * COPY_COLUMNS(size, 0) * V);
        copy_values(to, further(x->from[i], x->next + row * next_row), row + first, rows, transposed,
                    x->beyond);
      }
    }
  }
  x->next += TSK * next_row;
}

// --- Through registers -------------------------------------------------------------------------------------
//
// A work-item reads four rows (k) of one or a few columns at once, while the tile before it is on its way,
// and stores them one by one, one tile later.

#if K_MAJOR
FUNCTION void
load_tile(const Operand* x, const int rows, const int size, const int transposed) {}
FUNCTION void
store_tile(const Operand* x, const int stage, const int size, const int transposed) {}
#else
// Reads the `rows` rows of a tile that are there, as copy_tile does, and moves on to the next tile.
FUNCTION void
load_tile(Operand* x, const int rows, const int size, const int transposed) {
  if (!transposed) {
    return;
  }
  if (takes_part(x, size, 1)) {
#pragma unroll
    for (int i = 0; i < COPIES_OF_ITEM(size, 1); ++i) {
#pragma unroll
      for (int row = 0; row < TSK; row += COPY_ROWS(size, 1)) {
        float* values = x->values + (i * TSK + row) / COPY_ROWS(size, 1) * 4;
        const __global float* from = further(x->from[i], x->next + row * UNIT);
        if (V == 4 && rows >= TSK) {
          vstore4(*(const __global float4*)from, 0, values);
        } else {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            values[k] = rows >= TSK || row + copied_row(x->item, size, 1) + k < rows ? from[k] : x->beyond;
          }
        }
      }
    }
  }
  x->next += TSK * UNIT;
}

FUNCTION void
store_tile(const Operand* x, const int stage, const int size, const int transposed) {
  if (!transposed || !takes_part(x, size, 1)) {
    return;
  }
  // The four rows of one work-item have the same swizzle.
  const int first = copied_row(x->item, size, 1);
#pragma unroll
  for (int i = 0; i < COPIES_OF_ITEM(size, 1); ++i) {
    LOCAL_PTR float* to =
        x->to + stage + (first * size + (copied_column(x->item, i, size, 1) ^ swizzle_of(first, size)));
#pragma unroll
    for (int row = 0; row < TSK; row += COPY_ROWS(size, 1)) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        to[(row + k) * size] = x->values[(i * TSK + row) / COPY_ROWS(size, 1) * 4 + k];
      }
    }
  }
}
#endif
