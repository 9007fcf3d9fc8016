// Who does what of a product of terms: the work of a call in tiles of TSM x TSN and splits of k, and where a
// tile's operands are. TSM is a multiple or a divisor of PANEL, and TSN a divisor. SPLITS_IN_CLUSTERS says
// whether the splits of a tile may be a cluster, which is then chosen at run time.

enum { A_PANELS = (TSM + PANEL - 1) / PANEL };  // that a tile has a part of

// The workspace begins with a counter for each tile, then come the sums of its splits, aligned to 128 bytes.
FUNCTION long
counters_length(const long tiles) {
  return (tiles + 31) / 32 * 32;
}

// All that a call has to do: its tiles, each in splits of k, over its blocks along k.
struct Work {
  int tiles_m, tiles_n;
  int blocks;
  int splits;
  bool clustered;  // a work-group has one split of all its tiles
  long count;      // splits of tiles, or tiles where it is so
};
FUNCTION struct Work
work_of(const TensorArguments* p) {
  struct Work work;
  work.tiles_m = (int)((p->M + TSM - 1) / TSM);
  work.tiles_n = (int)((p->N + TSN - 1) / TSN);
  work.blocks = (int)((p->K + TSK - 1) / TSK);
  work.splits = p->k_splits;
  work.clustered = SPLITS_IN_CLUSTERS && p->clustered != 0;
  work.count = (long)work.tiles_m * work.tiles_n * p->batch * (work.clustered ? 1 : work.splits);
  return work;
}

// The next work of a work-group: a split of a tile of a member.
struct Tile {
  long number;  // of the tile, among those of all members
  long member;
  int m, n;  // in tiles
  int split;
  int begin, count;  // the split's blocks along k
};
FUNCTION struct Tile
tile_at(const long id, const struct Work* work, const int group_m, const __global GroupTile* groups) {
  struct Tile tile;
  const long of_member = (long)work->tiles_m * work->tiles_n;
  tile.number = work->clustered ? id : id / work->splits;
  tile.split = (int)(work->clustered ? (long)get_group_id(2) : id - tile.number * work->splits);
  tile.member = tile.number / of_member;
  uint tile_m;
  uint tile_n;
  rasterise(&tile_m, &tile_n, (uint)(tile.number - tile.member * of_member), (uint)work->tiles_m,
            (uint)work->tiles_n, (uint)group_m);
  tile.m = (int)tile_m;
  tile.n = (int)tile_n;
  if (groups != 0) {
    tile.member = groups[tile.n * TSN / PANEL].group;
  }
  const int length = (work->blocks + work->splits - 1) / work->splits;
  tile.begin = LEAST(tile.split * length, work->blocks);
  tile.count = LEAST(length, work->blocks - tile.begin);
  return tile;
}

// An operand's tiles, from the first row that a tile needs on, and how far apart its blocks along k are; and
// the scales of that row's panel.
struct Panels {
  const __global uint* tiles;
  long step;
  const __global float* scales;
};
FUNCTION struct Panels
panels_of(const __global uint* operand, const TermsLayout* layout, const long row, const struct Tile* tile,
          const int blocks, const int terms) {
  struct Panels result;
  const long member = layout->members == 1 ? 0 : tile->member;
  const long panel = row / PANEL;
  result.step = layout->panels * (terms * (SMEM_TILE_BYTES / 4));
  result.tiles = operand + (member * blocks + tile->begin) * result.step +
                 panel * (terms * (SMEM_TILE_BYTES / 4)) + row % PANEL * (ROW_BYTES / 4);
  result.scales = (const __global float*)operand +
                  scales_position(layout->members, member, panel, layout->panels, (long)blocks, terms);
  return result;
}

// The scales of an operand's rows: those of a member, from its first row on.
FUNCTION const __global float*
row_scales_of(const __global uint* operand, const TermsLayout* layout, const long member, const int blocks,
              const int terms) {
  return (const __global float*)operand + row_scales_position(layout->members,
                                                              layout->members == 1 ? 0 : member, 0,
                                                              layout->panels, (long)blocks, terms);
}

FUNCTION bool
tile_is_exact(const struct Panels* a, const struct Panels* b, const int blocks, const int lane) {
  int exact = is_exact(b->scales, blocks, lane);
#pragma unroll
  for (int panel = 0; panel < A_PANELS; ++panel) {
    exact = is_exact(a->scales + panel * blocks, blocks, lane) && exact;
  }
  return exact;
}
