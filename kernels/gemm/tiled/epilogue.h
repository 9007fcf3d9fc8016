// C <- alpha acc + beta C for a tile, from the work-items' registers.
//
// Where C is in vectors, a work-item writes its quadruples as they are. Otherwise they go through local
// memory, so that neighbours write what stands side by side in C, and that a cluster can add up its slices of
// k:
//
//   registers                   local memory                        C
//   q-th quadruples of all  ->  layer q, its columns as they  ->    neighbours write neighbours,
//   work-items: a layer         stand in C, in runs of RUN rows     of a cluster each its layers
//
// As many layers as fit are in local memory at once; at least one does.

#define QUADRUPLES (WPTM * WPTN / 4)
#define LAYER (4 * WORK_ITEMS)
#define LAYERS LEAST(QUADRUPLES, STAGES * STAGE / LAYER)
#define RUN (TSM / WPTM * 4)

// Where a work-item's quadruple is in its layer, and where in the tile of C the layer's v-th value is if it
// is the first layer.
FUNCTION int
place_in_layer(const int item) {
  return slot_n(item) * RUN + item / 32 % BLOCKS_M * (4 * LANES_M) + lane_m(item) * 4;
}
FUNCTION int
row_in_layer(const int v) {
  return v % RUN / (4 * LANES_M) * (LANES_M * WPTM) + v % (4 * LANES_M);
}
FUNCTION int
column_in_layer(const int v) {
  return column_of_slot(v / RUN);
}

// A tile of C, what it becomes, and where C is.
typedef struct {
  __global float* matrix;
  long ld;
  float alpha;
  float beta;
  Tile tile;
#if BIAS
  const __global float* bias;
#endif
} Result;

// Writes `width` values of C, the first of them in this row of it.
#if BIAS
#define WRITE(width, to, c, row, sums)          \
  (to) = fma((FLOAT(width))((c).alpha), (sums), \
             (FLOAT(width))((c).beta) * *(const __global FLOAT(width)*)((c).bias + (row)))
#else
#define WRITE(width, to, c, row, sums) UPDATE(FLOAT(width), to, (c).alpha, sums, (c).beta)
#endif

// Writes a work-item's quadruples as they are.
FUNCTION void
write_quadruples(const Result c, float acc[WPTN][WPTM], const Place place) {
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
    const long col = c.tile.n.first + place.n + next_column(wn);
#pragma unroll
    for (int wm = 0; wm < WPTM; wm += 4) {
      const long row = c.tile.m.first + place.m + next_row(wm);
      if (row < c.tile.m.end && col < c.tile.n.end) {
        __global float* to = &c.matrix[col * c.ld + row];
        WRITE(4, *(__global float4*)to, c, row, vload4(0, acc[wn] + wm));
      }
    }
  }
}

// What is there of a tile of C.
typedef struct {
  __global float* first;
  int rows;
  int cols;
} Inside;

// Writes every cluster-th of `count` layers in local memory, of which the first is the first-th, from the
// rank-th on. In vectors of `width`, which is 1 or 4.
FUNCTION void
write_layers(const Result c, const Inside inside, const LOCAL_PTR float* layers, const int item,
             const int first, const int count, const int rank, const int cluster, const int width) {
#pragma unroll 1
  for (int i = 0; i < 4 / width; ++i) {
    const int v = (i * WORK_ITEMS + item) * width;
    const int row = row_in_layer(v);
    const int col = column_in_layer(v);
#pragma unroll 4
    for (int q = rank; q < count; q += cluster) {
      const int at_row = row + (first + q) % (WPTM / 4) * (4 * LANES_M);
      const int at_col = col + next_column((first + q) / (WPTM / 4));
      if (at_row < inside.rows && at_col < inside.cols) {
        __global float* to = &inside.first[at_col * c.ld + at_row];
        const LOCAL_PTR float* from = layers + (q * LAYER + v);
        if (width == 4) {
          WRITE(4, *(__global float4*)to, c, c.tile.m.first + at_row, *(const LOCAL_PTR float4*)from);
        } else {
          WRITE(1, *to, c, c.tile.m.first + at_row, *from);
        }
      }
    }
  }
}

// In a cluster, the partial sums of a layer are added up by one work-group.
#define LAYER_READ(q) (layers + (q)*LAYER + 4 * item)
#define LAYER_ADDED(q, total) vstore4(total, 0, LAYER_READ(q))
FUNCTION void
add_up_layers(LOCAL_PTR float* layers, const int item, const int count, const int cluster) {
#if CLUSTERS
  if (cluster > 1) {
    CLUSTER_BARRIER();
    ADD_IN_CLUSTER(4, count, cluster, LAYER_READ, LAYER_ADDED);
    CLUSTER_BARRIER_RELAXED();
  }
#endif
}

// `one` is 1, which compilers do not know. They would keep sums that are stored as they are in the four
// neighbouring registers that a vector needs, and so in the same bank as the values of A that they meet.
FUNCTION void
write_through_layers(const Result c, float acc[WPTN][WPTM], LOCAL_PTR float* layers, const int item,
                     const int cluster, const long vectors, const float one) {
  const int rank = cluster == 1 ? 0 : (int)get_group_id(2);
  const Inside inside = {c.matrix + c.tile.n.first * c.ld + c.tile.m.first,
                         (int)LEAST(c.tile.m.end - c.tile.m.first, TSM),
                         (int)LEAST(c.tile.n.end - c.tile.n.first, TSN)};
#pragma unroll 1
  for (int first = 0; first < QUADRUPLES; first += LAYERS) {
    const int count = LEAST(QUADRUPLES - first, LAYERS);
#pragma unroll
    for (int q = 0; q < QUADRUPLES; ++q) {
      if (q >= first && q < first + LAYERS) {
        const float4 quadruple = vload4(0, acc[q / (WPTM / 4)] + q % (WPTM / 4) * 4);
        vstore4(quadruple * one, 0, layers + (q - first) * LAYER + place_in_layer(item));
      }
    }
    add_up_layers(layers, item, count, cluster);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (vectors != 0) {
      write_layers(c, inside, layers, item, first, count, rank, cluster, 4);
    } else {
      write_layers(c, inside, layers, item, first, count, rank, cluster, 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// vectors: whether C can be written, and a bias read, in vectors of four. work_groups: how many add up their
// slices of k.
FUNCTION void
epilogue(const Result c, float acc[WPTN][WPTM], LOCAL_PTR float* tiles, const Place place,
         const long vectors, const int work_groups) {
  // Compilers would otherwise keep what follows from its being one, or not, all along.
  int cluster = CLUSTERS ? work_groups : 1;
  OPAQUE(cluster);
  if (V == 4 && cluster == 1 && vectors != 0) {
    write_quadruples(c, acc, place);
  } else {
    int item = place.item;
    OPAQUE(item);
    write_through_layers(c, acc, tiles, item, cluster, vectors, c.tile.m.end > c.tile.m.first ? 1.0f : 0.0f);
  }
}
