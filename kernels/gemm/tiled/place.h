// Who computes what of C.
//
//      C, in tiles of TSM x TSN      a tile, in blocks of     a block, with LANES_M 8:
//      for a work-group each         32 work-items each       who has its float4
//
//      N ->                          +----+----+
//   M  +----+----+----+ a group of   | 0  | 2  |                        4 columns of 0, 8, 16, 24, then again
//   |  | 0  | 2  | 4  | group_m      +----+----+               4 rows   0  8 16 24  0  8 16 24
//   v  | 1  | 3  | 5  | tiles        | 1  | 3  |       ----->  of 0,    1  9 17 25  1  9 17 25
//      +----+----+----+              +----+----+               1 .. 7   :  :  :  :  :  :  :  :
//      | 6  | 7  | 8  | the next                               and      0  8 16 24  0  8 16 24
//      +----+----+----+                                        again    :  :  :  :  :  :  :  :
//
// 32 neighbouring work-items (a sub-group, where there are sub-groups of 32) have one block, LANES_M of them
// along M. Each has WPTM x WPTN elements in float4 that are spread over the block, so that neighbours
// read what stands side by side in local memory: 32 of them never want different words of one bank, which
// would be a bank conflict.

enum { WORK_ITEMS = (TSM / WPTM) * (TSN / WPTN), LANES_N = 32 / LANES_M, BLOCKS_M = TSM / (LANES_M * WPTM) };

// --- The tile of a work-group ------------------------------------------------------------------------------

// A tile's rows or columns: the first of them in C, and where those of C end. The last tile may be
// incomplete.
typedef struct {
  long first;
  long end;
} Span;

typedef struct {
  Span m;
  Span n;
} Tile;

// The number of tiles of this size along m or n.
FUNCTION uint
tiles_of(const long length, const int size) {
  return (uint)((length + size - 1) / size);
}

FUNCTION void
find_tile(Tile* tile, const uint number, const long m, const long n, const uint group_m) {
  uint tile_m;
  uint tile_n;
  rasterise(&tile_m, &tile_n, number, tiles_of(m, TSM), tiles_of(n, TSN), group_m);
  tile->m.first = (long)tile_m * TSM;
  tile->m.end = m;
  tile->n.first = (long)tile_n * TSN;
  tile->n.end = n;
}

// --- The place of a work-item ------------------------------------------------------------------------------

// Numbers of work-items are signed in all of this kernel: NVIDIA's compiler makes faster code of that, by 3
// percent for the largest tiles.
typedef struct {
  int item;  // the work-item's number in its work-group
  int m;     // in the tile, the row of its first element
  int n;     // and the column
} Place;

// The position of 32 neighbours in their block. With LANE_ORDER 1, every work-item reads the same rows as its
// next but one, and the same columns as its next: NVIDIA's GPUs serve such pairs at once (since compute
// capability 7.0).
FUNCTION int
lane_m(const int item) {
  const int lane = item % 32;
  return LANE_ORDER ? lane % 2 + lane / 4 * 2 % LANES_M : lane % LANES_M;
}
FUNCTION int
lane_n(const int item) {
  const int lane = item % 32;
  return LANE_ORDER ? lane / 2 % 2 + lane / (2 * LANES_M) * 2 : lane / LANES_M;
}

// The work-items before this one along N, the column that such a one begins with, and how far from
// there its wn-th column is. For rows the same.
FUNCTION int
slot_n(const int item) {
  return item / 32 / BLOCKS_M * LANES_N + lane_n(item);
}
FUNCTION int
column_of_slot(const int slot) {
  return slot / LANES_N * (LANES_N * WPTN) + slot % LANES_N * 4;
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
find_place(Place* place, const int item) {
  place->item = item;
  place->m = item / 32 % BLOCKS_M * (LANES_M * WPTM) + lane_m(item) * 4;
  place->n = column_of_slot(slot_n(item));
}

// With RECOMPUTE, compilers do not know from here on what they have computed in front of the loop over the
// batch already. They would carry over what follows from the work-item's number, and spill.
FUNCTION void
recompute(Place* place) {
#if RECOMPUTE
  OPAQUE(place->item);
  OPAQUE(place->m);
  OPAQUE(place->n);
#endif
}
