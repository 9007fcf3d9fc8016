// The tiles of a grouped product, each of one group: which group it is, and which of its columns.
//
//   columns   0           8          16          24    WIDTH 8, ends 3, 17, 17, 26
//             [-- 0][----------- 1 -----------][- 3 --]
//   tiles     0, 1  2          3          4     6  7    1 and 5 have no column
//
// A group that begins at column s has its tiles from s / WIDTH + group on: as many as its columns may need,
// and found by bisection, without adding up those before. An end before another one, or beyond the columns,
// does no harm to other memory.
//
// Each work-item has one tile.
//
// device: starts_early

#ifndef GROUP
#define GROUP 64  // work-items per work-group: 64 128 256
#endif

#include "dialect.h"
#include "gemm/arguments.h"

enum { WORK_ITEMS = GROUP };

// The column at which a group begins, or the last of all ends.
FUNCTION int
first_column(const __global int* ends, const int group, const int columns) {
  return group == 0 ? 0 : max(min(ends[group - 1], columns), 0);
}

__kernel __attribute__((work_group(WORK_ITEMS, 1))) void
group_tiles(ARGUMENTS(GroupTilesArguments), const __global int* ends_at, __global int* tiles_at) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(GroupTilesArguments);
  const int tile = (int)(get_group_id(0) * WORK_ITEMS + get_local_id(0));
  if (tile >= p.tiles) {
    return;
  }
  const __global int* ends = ends_at + p.ends_offset;
  int group = 0;
  int beyond = p.groups;
  while (beyond - group > 1) {
    const int middle = group + (beyond - group) / 2;
    if (first_column(ends, middle, p.columns) / p.width + middle <= tile) {
      group = middle;
    } else {
      beyond = middle;
    }
  }
  const int begin = first_column(ends, group, p.columns);
  __global GroupTile* to = (__global GroupTile*)(tiles_at + p.tiles_offset) + tile;
  to->group = group;
  to->first = begin + (tile - begin / p.width - group) * p.width;
  to->end = first_column(ends, group + 1, p.columns);
  to->unused = 0;
}
