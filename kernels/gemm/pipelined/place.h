// Who computes what of C.
//
//      C, in tiles of TSM x TSN      a tile, in blocks of     a block, with LANES_M 8:
//      for a work-group each         32 work-items each       who has its quadruples
//
//      N ->                          +----+----+
//   M  +----+----+----+ a strip of   | 0  | 2  |                        4 columns of 0, 8, 16, 24, then again
//   |  | 0  | 2  | 4  | group_m      +----+----+               4 rows   0  8 16 24  0  8 16 24
//   v  | 1  | 3  | 5  | tiles        | 1  | 3  |       ----->  of 0,    1  9 17 25  1  9 17 25
//      +----+----+----+              +----+----+               1 .. 7   :  :  :  :  :  :  :  :
//      | 6  | 7  | 8  | the next                               and      0  8 16 24  0  8 16 24
//      +----+----+----+                                        again    :  :  :  :  :  :  :  :
//
// Work-groups that run at the same time have group_m tiles along M before the next along N, so that they
// share rows of A and columns of B in the L2 cache.
//
// 32 neighbouring work-items (a sub-group, where there are sub-groups of 32) have one block, LANES_M of them
// along M. Each has WPTM x WPTN elements in quadruples that are spread over the block, so that neighbours
// read what stands side by side in local memory: 32 of them never want different words of one bank, which
// would be a bank conflict.

#define WORK_ITEMS ((TSM / WPTM) * (TSN / WPTN))
#define LANES_N (32 / LANES_M)
#define BLOCKS_M (TSM / (LANES_M * WPTM))

// --- The tile of a work-group ------------------------------------------------------------------------------

// A tile's rows or columns: the first of them in C, and how many are there. The last tile may be incomplete.
typedef struct {
  long first;
  int count;
} Span;

typedef struct {
  Span m;
  Span n;
} Tile;

FUNCTION void
find_span(Span* span, const uint number, const int size, const long end) {
  span->first = (long)number * size;
  span->count = (int)min(end - span->first, (long)size);
}

// Divisions are long. Where all tiles are in one strip, one is enough.
FUNCTION void
find_tile(Tile* tile, const uint number, const long m, const long n, const uint group_m) {
  const uint tiles_m = (uint)((m + TSM - 1) / TSM);
  uint first_m = 0;
  uint strip_m = tiles_m;
  uint in_strip = number;
  if (group_m < tiles_m) {
    const uint strip_size = group_m * (uint)((n + TSN - 1) / TSN);
    first_m = number / strip_size * group_m;
    strip_m = min(group_m, tiles_m - first_m);
    in_strip = number % strip_size;
  }
  find_span(&tile->m, first_m + in_strip % strip_m, TSM, m);
  find_span(&tile->n, in_strip / strip_m, TSN, n);
}

// --- The place of a work-item ------------------------------------------------------------------------------

typedef struct {
  uint item;  // the work-item's number in its work-group
  int m;      // in the tile, the row of its first element
  int n;      // and the column
} Place;

// Where in their block 32 neighbours stand. With LANE_ORDER 1, every work-item reads the same rows as its
// next but one, and the same columns as its next: NVIDIA's GPUs serve such pairs at once (since compute
// capability 7.0).
FUNCTION uint
lane_m(const uint item) {
  const uint lane = item % 32;
  return LANE_ORDER ? lane % 2 + lane / 4 * 2 % LANES_M : lane % LANES_M;
}
FUNCTION uint
lane_n(const uint item) {
  const uint lane = item % 32;
  return LANE_ORDER ? lane / 2 % 2 + lane / (2 * LANES_M) * 2 : lane / LANES_M;
}

// How many work-items are before this one along N, the column that such a one begins with, and how far from
// there its wn-th column is. For rows the same.
FUNCTION uint
slot_n(const uint item) {
  return item / 32 / BLOCKS_M * LANES_N + lane_n(item);
}
FUNCTION int
column_of_slot(const uint slot) {
  return (int)(slot / LANES_N * (LANES_N * WPTN) + slot % LANES_N * 4);
}
FUNCTION int
next_column(const int wn) {
  return wn / 4 * (4 * LANES_N) + wn % 4;
}
FUNCTION int
next_row(const int wm) {
  return wm / 4 * (4 * LANES_M) + wm % 4;
}

FUNCTION void
find_place(Place* place, const uint item) {
  place->item = item;
  place->m = (int)(item / 32 % BLOCKS_M * (LANES_M * WPTM) + lane_m(item) * 4);
  place->n = column_of_slot(slot_n(item));
}

// From here on, compilers do not know what they have computed in front of the loop over the batch already.
// They would carry over what follows from the work-item's number, and spill. With RECOMPUTE, they do not
// carry over where it is in the tile of C either.
FUNCTION void
recompute(Place* place) {
  OPAQUE(place->item);
#if RECOMPUTE
  OPAQUE(place->m);
  OPAQUE(place->n);
#endif
}
