// D <- alpha acc + beta C for a tile, from the work-items' registers.
//
// If C and D are in vectors, a work-item writes its float4 as they are. Otherwise they go through local
// memory, so that neighbours write what stands side by side in D, and that a cluster can add up its splits of
// k:
//
//   registers                   local memory                        D
//   q-th float4 of all      ->  layer q, its columns as they  ->    neighbours write neighbours,
//   work-items: a layer         stand in D, in runs of RUN rows     of a cluster each its layers
//
// As many layers as fit are in local memory at once; at least one does.

enum {
  FOURS = WPTM * WPTN / 4,
  LAYER = 4 * WORK_ITEMS,
  LAYERS = LEAST(FOURS, STAGES* STAGE / LAYER),
  RUN = TSM / WPTM * 4
};

// The position of a work-item's float4 in its layer, and where in the tile of D the layer's v-th value is if
// it is the first layer.
FUNCTION int
position_in_layer(const int item) {
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

// Writes a work-item's float4 as they are.
FUNCTION void
write_fours(const Result result, const Tile tile, float acc[WPTN][WPTM], const Place place,
            const float beta) {
  const long first_row = tile.m.first + place.m;
  const long first_col = tile.n.first + place.n;
  // Counted in float4, D's are known to be aligned. Compilers would else write their elements one by one.
  const long ldd = result.ldd >> 2;
  __global float4* d = (__global float4*)result.d + (first_col * ldd + (first_row >> 2));
  const __global float* c = result.c + (first_col * result.ldc + first_row);
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
    const int col = next_column(wn);
#pragma unroll
    for (int wm = 0; wm < WPTM; wm += 4) {
      const int row = next_row(wm);
      if (first_row + row < tile.m.end && first_col + col < tile.n.end) {
        UPDATE_FROM(float4, d[col * ldd + row / 4], result.alpha, vload4(0, acc[wn] + wm), beta,
                    *(const __global float4*)&c[col * result.ldc + row]);
      }
    }
  }
}

// The part of a tile that is within D: its first elements of D and C, and how many rows and columns.
typedef struct {
  __global float* d;
  const __global float* c;
  int rows;
  int cols;
} Inside;

// Writes every cluster-th of `count` layers in local memory, of which the first is the first-th, from the
// rank-th on. In vectors of `width`, which is 1 or 4.
FUNCTION void
write_layers(const Result result, const Inside inside, const LOCAL_PTR float* layers, const int item,
             const int first, const int count, const int rank, const int cluster, const int width,
             const float beta) {
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
        const __global float* c = &inside.c[at_col * result.ldc + at_row];
        const LOCAL_PTR float* sums = layers + (q * LAYER + v);
        if (width == 4) {
          __global float4* d = (__global float4*)inside.d + (at_col * (result.ldd >> 2) + (at_row >> 2));
          UPDATE_FROM(float4, *d, result.alpha, *(const LOCAL_PTR float4*)sums, beta,
                      *(const __global float4*)c);
        } else {
          UPDATE_FROM(float, inside.d[at_col * result.ldd + at_row], result.alpha, *sums, beta, *c);
        }
      }
    }
  }
}

// In vectors where D and C are.
FUNCTION void
write_layers_in_vectors(const Result result, const Inside inside, const LOCAL_PTR float* layers,
                        const int item, const int first, const int count, const int rank, const int cluster,
                        const float beta) {
  if (result.vectors) {
    write_layers(result, inside, layers, item, first, count, rank, cluster, 4, beta);
  } else {
    write_layers(result, inside, layers, item, first, count, rank, cluster, 1, beta);
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
write_through_layers(const Result result, const Tile tile, float acc[WPTN][WPTM], LOCAL_PTR float* layers,
                     const int item, const int cluster, const float one) {
  const int rank = cluster == 1 ? 0 : (int)get_group_id(2);
  const Inside inside = {result.d + tile.n.first * result.ldd + tile.m.first,
                         result.c + tile.n.first * result.ldc + tile.m.first,
                         (int)LEAST(tile.m.end - tile.m.first, TSM),
                         (int)LEAST(tile.n.end - tile.n.first, TSN)};
#pragma unroll 1
  for (int first = 0; first < FOURS; first += LAYERS) {
    const int count = LEAST(FOURS - first, LAYERS);
#pragma unroll
    for (int q = 0; q < FOURS; ++q) {
      if (q >= first && q < first + LAYERS) {
        const float4 four = vload4(0, acc[q / (WPTM / 4)] + q % (WPTM / 4) * 4);
        vstore4(four * one, 0, layers + (q - first) * LAYER + position_in_layer(item));
      }
    }
    add_up_layers(layers, item, count, cluster);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (result.beta == 0.0f) {
      write_layers_in_vectors(result, inside, layers, item, first, count, rank, cluster, 0.0f);
    } else {
      write_layers_in_vectors(result, inside, layers, item, first, count, rank, cluster, result.beta);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// work_groups: how many add up their splits of k.
FUNCTION void
epilogue(const Result result, const Tile tile, float acc[WPTN][WPTM], LOCAL_PTR float* tiles,
         Place place, const int work_groups) {
  // Compilers would otherwise compute what follows from these before the loop over k, and keep it all along.
  int cluster = CLUSTERS ? work_groups : 1;
  OPAQUE(cluster);
  OPAQUE(place.item);
  OPAQUE(place.m);
  OPAQUE(place.n);
  if (V == 4 && cluster == 1 && result.vectors) {
    if (result.beta == 0.0f) {
      write_fours(result, tile, acc, place, 0.0f);
    } else {
      write_fours(result, tile, acc, place, result.beta);
    }
  } else {
    write_through_layers(result, tile, acc, tiles, place.item, cluster,
                         tile.m.end > tile.m.first ? 1.0f : 0.0f);
  }
}
