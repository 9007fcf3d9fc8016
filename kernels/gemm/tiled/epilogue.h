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
// As many blocks of layers as fit are in local memory at once, of a block as many layers as fit; at least one
// does. Where blocks have whole groups of four columns, as WPTM layers are, distances within are constants.
// Blocks of eight are quick enough: with more, compilers take registers for all that is loaded at once.

enum {
  FOURS = WPTM * WPTN / 4,
  LAYER = 4 * WORK_ITEMS,
  ROOM = STAGES * STAGE / LAYER,
  BLOCK = LEAST(ROOM, LEAST(FOURS, WPTM == 4 ? 8 : WPTM)),
  LAYERS = LEAST(FOURS, ROOM / BLOCK * BLOCK),
  RUN = TSM / WPTM * 4
};

// The position of a work-item's float4 in its layer, and where in the tile of D the layer's v-th value is if
// it is the first layer.
FUNCTION int
position_in_layer(const int item) {
  return slot_n(item) * RUN + item / 32 % BLOCKS_M * (4 * LANES_M) + lane_m(item) * 4;
}
FUNCTION int
row_in_layer(const uint v) {
  return (int)(v % (uint)RUN / (4 * LANES_M) * (LANES_M * WPTM) + v % (4 * LANES_M));
}
FUNCTION int
column_in_layer(const uint v) {
  return column_of_slot((int)(v / (uint)RUN));
}

// How far from there the same value of another layer is.
FUNCTION int
row_of_layer(const int layer) {
  return layer % (WPTM / 4) * (4 * LANES_M);
}
FUNCTION int
column_of_layer(const int layer) {
  return next_column(layer / (WPTM / 4));
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
// rank-th on. In vectors of `width`, which is 1 or 4, and so are distances counted. Next to nothing is left
// to compute for each value: a short sum takes as long to write as to add up.
FUNCTION void
write_layers(const Result result, const Inside inside, const LOCAL_PTR float* layers, const int item,
             const int first, const int count, const int rank, const int cluster, const int width,
             const float beta) {
  const int at_once = width == 4 ? LEAST(BLOCK, 4) : BLOCK;
  int shift = width == 4 ? 2 : 0;
  OPAQUE(shift);  // as in epilogue(): multiples of these distances would be kept
  const long ldd = result.ldd >> shift;
  const long ldc = result.ldc >> shift;
#pragma unroll 1
  for (int i = 0; i < 4 / width; ++i) {
    const int v = (i * WORK_ITEMS + item) * width;
    const int row = row_in_layer((uint)v);
    const int first_col = column_in_layer((uint)v);
    const long at_d = (first_col + column_of_layer(first)) * ldd + row / width;
    const long at_c = (first_col + column_of_layer(first)) * ldc + row / width;
    __global float* d = inside.d + at_d;
    const __global float* c = inside.c + at_c;
    __global float4* d4 = (__global float4*)inside.d + at_d;
    const __global float4* c4 = (const __global float4*)inside.c + at_c;
    const LOCAL_PTR float* sums = layers + v;
    int turn = 0;
#pragma unroll 1
    for (int block = 0; block < count; block += at_once) {
      const int begin = at_once % WPTM == 0 && LAYERS % WPTM == 0 ? 0 : first + block;
      const int col = first_col + column_of_layer(first + block) - column_of_layer(begin);
#pragma unroll
      for (int q = 0; q < at_once; ++q) {
        const int down = row_of_layer(begin + q);
        const int right = column_of_layer(begin + q);
        if (block + q < count && turn == rank && row + down < inside.rows && col + right < inside.cols) {
          if (width == 4) {
            UPDATE_FROM(float4, d4[down / 4], result.alpha, *(const LOCAL_PTR float4*)(sums + q * LAYER),
                        beta, c4[down / 4]);
          } else {
            UPDATE_FROM(float, d[down], result.alpha, sums[q * LAYER], beta, c[down]);
          }
        }
        turn = turn + 1 == cluster ? 0 : turn + 1;
        const int further = column_of_layer(begin + q + 1) - right;
        d += further * ldd;
        c += further * ldc;
        d4 += further * ldd;
        c4 += further * ldc;
      }
      sums += at_once * LAYER;
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
epilogue(const Result result, const Tile tile, float acc[WPTN][WPTM], LOCAL_PTR float* tiles, Place place,
         const int work_groups) {
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
