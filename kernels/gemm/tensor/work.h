// Who does what of a product of pieces: the work of a call in tiles of TSM x TSN and slices of k, and where a
// tile's operands are. TSM is a multiple or a divisor of PANEL, and TSN a divisor. SLICES_IN_CLUSTERS says
// whether the slices of a tile may be a cluster, which is then chosen at run time.

#define A_PANELS ((TSM + PANEL - 1) / PANEL)  // that a tile has a part of

// The workspace begins with a counter for each tile, then come the sums of its slices, aligned to 128 bytes.
#define COUNTERS(tiles) (((tiles) + 31) / 32 * 32)

// All that a call has to do: so many tiles, each in slices, over so many blocks along k.
struct Work {
  int tiles_m, tiles_n;
  int blocks;
  int slices;
  bool clustered;  // a work-group has one slice of all its tiles
  long count;      // slices of tiles, or tiles where it is so
};
FUNCTION struct Work work_of(const TensorArguments* p) {
  struct Work work;
  work.tiles_m = (int)((p->M + TSM - 1) / TSM);
  work.tiles_n = (int)((p->N + TSN - 1) / TSN);
  work.blocks = (int)((p->K + TSK - 1) / TSK);
  work.slices = (int)p->k_splits;
  work.clustered = SLICES_IN_CLUSTERS && p->clustered != 0;
  work.count = (long)work.tiles_m * work.tiles_n * p->batch * (work.clustered ? 1 : work.slices);
  return work;
}

// What a work-group does next: a slice of a tile of a member.
struct Tile {
  long number;  // of the tile, among those of all members
  long member;
  int m, n;  // in tiles
  int slice;
  int begin, count;  // the slice's blocks along k
};
FUNCTION struct Tile tile_at(const long id, const struct Work* work, const int group_m) {
  struct Tile tile;
  const long of_member = (long)work->tiles_m * work->tiles_n;
  tile.number = work->clustered ? id : id / work->slices;
  tile.slice = (int)(work->clustered ? (long)get_group_id(2) : id - tile.number * work->slices);
  tile.member = tile.number / of_member;
  const int place = (int)(tile.number - tile.member * of_member);
  const int strip = place / (group_m * work->tiles_n);
  const int in_strip = place % (group_m * work->tiles_n);
  const int strip_rows = LEAST(group_m, work->tiles_m - strip * group_m);
  tile.m = strip * group_m + in_strip % strip_rows;
  tile.n = in_strip / strip_rows;
  const int length = (work->blocks + work->slices - 1) / work->slices;
  tile.begin = LEAST(tile.slice * length, work->blocks);
  tile.count = LEAST(length, work->blocks - tile.begin);
  return tile;
}

// An operand's images, from the first that a tile needs on, and how far apart its blocks along k are; and the
// scales of its first panel there.
struct Panels {
  const __global uint* images;
  long step;
  const __global float* scales;
};
FUNCTION struct Panels panels_of(const __global uint* operand, const long members, const long panels,
                                 const int panel, const struct Tile* tile, const int blocks) {
  struct Panels result;
  const long member = members == 1 ? 0 : tile->member;
  result.step = panels * (BLOCK_BYTES / 4);
  result.images = operand + (member * blocks + tile->begin) * result.step + panel * (BLOCK_BYTES / 4);
  result.scales = (const __global float*)operand + SCALES_PLACE(members, member, panel, panels, (long)blocks);
  return result;
}
FUNCTION bool tile_is_exact(const struct Panels* a, const struct Panels* b, const int blocks,
                            const int lane) {
  int exact = is_exact(b->scales, blocks, lane);
#pragma unroll
  for (int panel = 0; panel < A_PANELS; ++panel) {
    exact = is_exact(a->scales + panel * blocks, blocks, lane) && exact;
  }
  return exact;
}
