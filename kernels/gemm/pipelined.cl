// The pipelined kernel: C <- alpha op(A) op(B) + beta C, large or small, in tiles sized to the problem.
//
//   op(A)  tile of TSM x TSK --+   STAGES of each in local memory: while one pair is multiplied, the next
//   op(B)  tile of TSK x TSN --+   ones arrive (see tiles.h)
//                             +-> fragments of one k in registers, loaded one k ahead; WPTM x WPTN
//                                 multiply-adds per work-item and k
//
// 32 neighbouring work-items (a sub-group, where there are sub-groups of 32) work on one block of C: LANES_M
// of them along M. A work-item's rows and columns are quadruples spread over that block, so that its
// neighbours read what stands beside in local memory. The barrier of a tile stands before its last k, whose
// fragments are in registers by then: the multiply-adds of that k hide the first loads from the next tile.
//
// K may be split: work-groups numbered g in the third dimension take k from g * k_chunk on, and write
// g * chunk_stride behind C; or those of a cluster add up what they have, and each writes a share of the
// tile. Work-groups in the first dimension walk over the tiles of C, group_m of them along M before the next
// along N, so that those at work together share rows of A and columns of B in the L2 cache. Those in the
// second dimension walk over the batch.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major. Offsets, strides and leading dimensions in
// elements. M, N and K are positive; K is below 2^30.

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
#endif
#ifndef V
#define V 1  // values of A and B read at once; 4 needs alignment to as many, and whole vectors: 1 4
#endif
#ifndef TSM
#define TSM 64  // work-group tile in M: 8 16 32 48 64 96 128 192 256
#endif
#ifndef TSN
#define TSN 64  // work-group tile in N: 8 16 32 48 64 96 128 192 256
#endif
#ifndef TSK
#define TSK 16  // tile in K: 8 16 32
#endif
#ifndef WPTM
#define WPTM 8  // rows of C per work-item: 4 8 16
#endif
#ifndef WPTN
#define WPTN 4  // columns of C per work-item: 4 8 16
#endif
#ifndef LANES_M
#define LANES_M 4  // of 32 neighbouring work-items, how many stand along M: 1 2 4 8 16 32
#endif
#ifndef LANE_ORDER
#define LANE_ORDER 0  // neighbouring work-items stand in a line along M, or four in a square: 0 1
#endif
#ifndef TRANSPOSE_ASYNC
#define TRANSPOSE_ASYNC 0  // transpose while copying, value by value and past the registers: 0 1
#endif
#ifndef LANES_K
#define LANES_K 4  // with TRANSPOSE_ASYNC, neighbouring work-items that read along one column: 4 8
#endif
#ifndef STAGES
#define STAGES 2  // tiles in local memory at once: 2 3 4 5 6
#endif
#ifndef ASYNC
#define ASYNC 1  // copy to local memory past the registers, where the device can, see operations.h: 0 1 2
#endif
#ifndef BYTES
#define BYTES 0  // count in bytes what changes from tile to tile, see tiles.h: 0 1
#endif
#ifndef FMA_ORDER
#define FMA_ORDER 0  // the order of a work-item's multiply-adds for one k, see below: 0 1 2 3
#endif
#ifndef RECOMPUTE
#define RECOMPUTE 0  // compute where a work-item is anew for each member of a batch; spares registers: 0 1
#endif
#ifndef RESIDENT
#define RESIDENT 1  // work-groups that should fit on a multiprocessor, see dialect.h: 0 1 2 3 4 6 8
#endif

#include "dialect.h"
#include "gemm/batch.h"
#include "update.h"

#define WORK_ITEMS ((TSM / WPTM) * (TSN / WPTN))
#include "gemm/cluster.h"
#include "gemm/tiles.h"

// Where in their block 32 neighbours stand. With LANE_ORDER 1, every work-item reads the same rows as its
// next but one, and the same columns as its next: NVIDIA's GPUs serve such pairs at once (since compute
// capability 7.0).
#define LANES_N (32 / LANES_M)
#define LANE_M(lane) (LANE_ORDER ? (lane) % 2 + (lane) / 4 * 2 % LANES_M : (lane) % LANES_M)
#define LANE_N(lane) (LANE_ORDER ? (lane) / 2 % 2 + (lane) / (2 * LANES_M) * 2 : (lane) / LANES_M)
#define BLOCKS_M (TSM / (LANES_M * WPTM))
#define STAGE (TSK * (TSM + TSN))
#define LAST_STAGE ((STAGES - 1) * STAGE)

// A work-item's place along N; where the columns of such a place begin in the tile of C, and where the wn-th
// is from there.
#define SLOT(tid) ((tid) / 32 / BLOCKS_M * LANES_N + LANE_N((tid) % 32))
#define FIRST_COLUMN(slot) ((slot) / LANES_N * (LANES_N * WPTN) + (slot) % LANES_N * 4)
#define NEXT_COLUMN(wn) ((wn) / 4 * (4 * LANES_N) + (wn) % 4)

// Sums on their way to C: a work-item has so many quadruples of them, and all work-items' q-th quadruples are
// a layer. In local memory, a layer stands as it does in C: in runs down the columns, of those rows that are
// in it. So many layers fit there at once; at least one does.
#define QUADRUPLES (WPTM * WPTN / 4)
#define QUADRUPLE(q) (acc[(q) / (WPTM / 4)] + (q) % (WPTM / 4) * 4)
#define LAYER (4 * WORK_ITEMS)
#define LAYERS LEAST(QUADRUPLES, STAGES* STAGE / LAYER)

// Where a work-item's quadruple is in its layer, and where in the tile of C the layer's v-th value is if it
// is the first layer.
#define RUN (TSM / WPTM * 4)
#define LAYER_PLACE (SLOT(item) * RUN + item / 32 % BLOCKS_M * (4 * LANES_M) + LANE_M(item % 32) * 4)
#define LAYER_ROW(v) ((v) % RUN / (4 * LANES_M) * (LANES_M * WPTM) + (v) % (4 * LANES_M))
#define LAYER_COLUMN(v) FIRST_COLUMN((v) / RUN)

// Writes this work-group's share of `count` layers in local memory, of which the first is the first-th, in
// vectors of `width`.
#define WRITE_LAYERS(width)                                                                         \
  do {                                                                                              \
    _Pragma("unroll 1") for (int i = 0; i < 4 / width; ++i) {                                       \
      const int v = (i * WORK_ITEMS + item) * width;                                                \
      const int row = LAYER_ROW(v);                                                                 \
      const int col = LAYER_COLUMN(v);                                                              \
      _Pragma("unroll 4") for (int q = rank; q < count; q += cluster) {                             \
        const int at_row = row + (first + q) % (WPTM / 4) * (4 * LANES_M);                          \
        const int at_col = col + NEXT_COLUMN((first + q) / (WPTM / 4));                             \
        if (at_row < rows && at_col < cols) {                                                       \
          UPDATE(FLOAT(width), *(__global FLOAT(width)*)&c_first[at_col * p.ldc + at_row], p.alpha, \
                 *(const LOCAL_PTR FLOAT(width)*)(tiles + q * LAYER + v), p.beta);                  \
        }                                                                                           \
      }                                                                                             \
    }                                                                                               \
  } while (0)

// In a cluster, the partial sums of a layer are added up by one work-group.
#define LAYER_READ(q) (tiles + (q)*LAYER + 4 * item)
#define LAYER_ADDED(q, total) vstore4(total, 0, LAYER_READ(q))

// One operand's half of what happens to a tile. A stage is given by where it begins: A's tile, then B's. A
// direct tile is fetched right into its stage, and so is one that is transposed on the way. Any other is
// loaded into registers while the tile before it is on its way, and put into its stage one tile later.
#define NOTHING() \
  do {            \
  } while (0)
#if !TRANS_A
#define A_BEGIN()                                                  \
  const __global float* a_from[DIRECT_PLACES(TSM, V)];           \
  LOCAL_PTR float* const a_place = tiles + DIRECT_PLACE(TSM, V); \
  direct_begin(a_from, a_member, p.lda, first_row, p.M, tid, TSM, V)
#define A_FETCH(stage) direct_copy(a_place + (stage), a_from, &a_next, p.lda, tid, TSM, V)
#define A_FETCH_ROWS(stage, rows) \
  direct_copy_rows(a_place + (stage), a_from, &a_next, p.lda, rows, -0.0f, tid, TSM, V)
#define A_LOAD(rows) NOTHING()
#define A_PUT(stage) NOTHING()
#elif TRANSPOSE_ASYNC
#define A_BEGIN()                                   \
  const __global float* a_from[TRANSPOSED_PLACES(TSM)]; \
  transposed_begin(a_from, a_member, p.lda, first_row, p.M, tid, TSM)
#define A_FETCH(stage) transposed_copy(tiles + (stage), a_from, &a_next, tid, TSM)
#define A_FETCH_ROWS(stage, rows) \
  transposed_copy_rows(tiles + (stage), a_from, &a_next, rows, -0.0f, tid, TSM)
#define A_LOAD(rows) NOTHING()
#define A_PUT(stage) NOTHING()
#else
#define A_BEGIN()                                   \
  const __global float* a_from[TRANSPOSED_PLACES(TSM)]; \
  float a_values[TRANSPOSED_VALUES(TSM)];               \
  transposed_begin(a_from, a_member, p.lda, first_row, p.M, tid, TSM)
#define A_FETCH(stage) NOTHING()
#define A_FETCH_ROWS(stage, rows) NOTHING()
#define A_LOAD(rows) transposed_load(a_values, a_from, &a_next, rows, -0.0f, tid, TSM, V)
#define A_PUT(stage) transposed_store(tiles + (stage), a_values, tid, TSM)
#endif
#define B_TILE(stage) (tiles + (stage) + TSK * TSM)
#if TRANS_B
#define B_BEGIN()                                                              \
  const __global float* b_from[DIRECT_PLACES(TSN, V)];                       \
  LOCAL_PTR float* const b_place = tiles + TSK * TSM + DIRECT_PLACE(TSN, V); \
  direct_begin(b_from, b_member, p.ldb, first_col, p.N, tid, TSN, V)
#define B_FETCH(stage) direct_copy(b_place + (stage), b_from, &b_next, p.ldb, tid, TSN, V)
#define B_FETCH_ROWS(stage, rows) \
  direct_copy_rows(b_place + (stage), b_from, &b_next, p.ldb, rows, 0.0f, tid, TSN, V)
#define B_LOAD(rows) NOTHING()
#define B_PUT(stage) NOTHING()
#elif TRANSPOSE_ASYNC
#define B_BEGIN()                                   \
  const __global float* b_from[TRANSPOSED_PLACES(TSN)]; \
  transposed_begin(b_from, b_member, p.ldb, first_col, p.N, tid, TSN)
#define B_FETCH(stage) transposed_copy(B_TILE(stage), b_from, &b_next, tid, TSN)
#define B_FETCH_ROWS(stage, rows) transposed_copy_rows(B_TILE(stage), b_from, &b_next, rows, 0.0f, tid, TSN)
#define B_LOAD(rows) NOTHING()
#define B_PUT(stage) NOTHING()
#else
#define B_BEGIN()                                   \
  const __global float* b_from[TRANSPOSED_PLACES(TSN)]; \
  float b_values[TRANSPOSED_VALUES(TSN)];               \
  transposed_begin(b_from, b_member, p.ldb, first_col, p.N, tid, TSN)
#define B_FETCH(stage) NOTHING()
#define B_FETCH_ROWS(stage, rows) NOTHING()
#define B_LOAD(rows) transposed_load(b_values, b_from, &b_next, rows, 0.0f, tid, TSN, V)
#define B_PUT(stage) transposed_store(B_TILE(stage), b_values, tid, TSN)
#endif
#define THROUGH_REGISTERS (!TRANSPOSE_ASYNC && (TRANS_A || !TRANS_B))

// Both operands' halves. Of a tile, `rows` rows are left, perhaps more than it has, or fewer, or none.
#define FETCH(stage, rows)       \
  do {                           \
    if ((rows) >= TSK) {         \
      A_FETCH(stage);            \
      B_FETCH(stage);            \
    } else if ((rows) > 0) {     \
      A_FETCH_ROWS(stage, rows); \
      B_FETCH_ROWS(stage, rows); \
    }                            \
    COPY_COMMIT();               \
  } while (0)
#define LOAD(rows)    \
  do {                \
    if ((rows) > 0) { \
      A_LOAD(rows);   \
      B_LOAD(rows);   \
    }                 \
  } while (0)
#define PUT(stage, rows) \
  do {                   \
    if ((rows) > 0) {    \
      A_PUT(stage);      \
      B_PUT(stage);      \
    }                    \
  } while (0)

#define LOAD_FRAGMENTS(which, stage, k)                                                     \
  do {                                                                                      \
    load_fragment(a[which], tiles + (stage), a_places, k, WPTM, 4 * LANES_M, TRANS_A, TSM); \
    load_fragment(b[which], B_TILE(stage), b_places, k, WPTN, 4 * LANES_N, !TRANS_B, TSN);  \
  } while (0)

// The order of the multiply-adds of one k: what a compiler makes of it differs by several percent, because
// neighbours that share an operand spare the register file a read. 0: along N, back and forth; 1: along N;
// 2: along M, back and forth; 3: in blocks of 4 x 2.
#if FMA_ORDER == 0
#define FMA_M(i) ((i) / WPTN)
#define FMA_N(i) (FMA_M(i) % 2 ? WPTN - 1 - (i) % WPTN : (i) % WPTN)
#elif FMA_ORDER == 1
#define FMA_M(i) ((i) / WPTN)
#define FMA_N(i) ((i) % WPTN)
#elif FMA_ORDER == 2
#define FMA_N(i) ((i) / WPTM)
#define FMA_M(i) (FMA_N(i) % 2 ? WPTM - 1 - (i) % WPTM : (i) % WPTM)
#else
#define FMA_M(i) ((i) / 8 % (WPTM / 4) * 4 + (i) % 8 / 2)
#define FMA_N(i) ((i) / 8 / (WPTM / 4) * 2 + ((i) / 2 % 2 ? 1 - (i) % 2 : (i) % 2))
#endif

// Multiplies the tile of stage `now`, fetches the one of stage `ahead`, of which `rows` rows are left, and
// loads the one behind that, of which `rows_behind` are. `more` says whether another tile is to be
// multiplied. The barrier also keeps a compiler from moving the loads towards their use.
#define MULTIPLY(rows, rows_behind, more)                                             \
  do {                                                                                \
    const int next = now == LAST_STAGE ? 0 : now + STAGE;                             \
    FETCH(ahead, rows);                                                               \
    _Pragma("unroll") for (int k = 0; k < TSK; ++k) {                                 \
      if (k < TSK - 1) {                                                              \
        LOAD_FRAGMENTS((k + 1) % 2, now, k + 1);                                      \
      } else {                                                                        \
        PUT(ahead, rows);                                                             \
        LOAD(rows_behind);                                                            \
        COPY_WAIT(STAGES - 2);                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                                 \
        if (more) {                                                                   \
          LOAD_FRAGMENTS(0, next, 0);                                                 \
        }                                                                             \
      }                                                                               \
      _Pragma("unroll") for (int i = 0; i < WPTM * WPTN; ++i) {                       \
        acc[FMA_N(i)][FMA_M(i)] =                                                   \
            fma(a[k % 2][FMA_M(i)], b[k % 2][FMA_N(i)], acc[FMA_N(i)][FMA_M(i)]); \
      }                                                                               \
    }                                                                                 \
    now = next;                                                                       \
    ahead = ahead == LAST_STAGE ? 0 : ahead + STAGE;                                  \
    left -= TSK;                                                                      \
  } while (0)

// Vectors are read of strided batches only.
#define LISTED(table) (V == 4 ? 0 : (table))

// Behind the others: how many tiles along M come before the next along N, and whether C can be written in
// vectors of four.
#define PRODUCT_IN_TILES(POINTER, LONG, SINGLE) \
  PRODUCT_IN_SLICES(POINTER, LONG, SINGLE) LONG(group_m) LONG(c_vectors)
NUMBERS_OF(PRODUCT_IN_TILES);

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
pipelined(PARAMETERS(PRODUCT_IN_TILES)) {
  AWAIT_STEP_BEFORE();
  NUMBERS(PRODUCT_IN_TILES);
  int tid = get_local_id(0);
  int m0 = tid / 32 % BLOCKS_M * (LANES_M * WPTM) + LANE_M(tid % 32) * 4;
  int n0 = FIRST_COLUMN(SLOT(tid));

  const uint tiles_m = (uint)((p.M + TSM - 1) / TSM);
  const uint tiles_n = (uint)((p.N + TSN - 1) / TSN);
  const uint most_rows = (uint)p.group_m;
  const uint strip = (uint)get_group_id(0) / (most_rows * tiles_n);
  const uint in_strip = (uint)get_group_id(0) % (most_rows * tiles_n);
  const uint strip_rows = min(most_rows, tiles_m - strip * most_rows);
  const long first_row = (long)(strip * most_rows + in_strip % strip_rows) * TSM;
  const long first_col = (long)(in_strip / strip_rows) * TSN;
  const long first_k = (long)get_group_id(2) * p.k_chunk;
  const int depth = (int)min(p.k_chunk, p.K - first_k);

  __local float tiles[STAGES * STAGE] __attribute__((aligned(16)));

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
#if RECOMPUTE
    OPAQUE(tid);
    OPAQUE(m0);
    OPAQUE(n0);
#endif
    const __global float* a_member =
        MEMBER(A, p.a_offset, p.a_stride, LISTED(a_table), member) + first_k * (TRANS_A ? 1 : p.lda);
    const __global float* b_member =
        MEMBER(B, p.b_offset, p.b_stride, LISTED(b_table), member) + first_k * (TRANS_B ? p.ldb : 1);

    long a_next = 0;
    long b_next = 0;
    A_BEGIN();
    B_BEGIN();

    float acc[WPTN][WPTM];
#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
      for (int wm = 0; wm < WPTM; ++wm) {
        acc[wn][wm] = 0.0f;
      }
    }

#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage) {
      const int rows = depth - stage * TSK;
      LOAD(rows);
      FETCH(stage * STAGE, rows);
      PUT(stage * STAGE, rows);
    }
    int left = depth - (STAGES - 1) * TSK;  // rows that are not in local memory yet, nor on their way there
    LOAD(left);
    COPY_WAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);

    float a[2][WPTM];
    float b[2][WPTN];
    int a_places[SWIZZLES(TRANS_A, TSM)];
    int b_places[SWIZZLES(!TRANS_B, TSN)];
    fragment_begin(a_places, m0, TRANS_A, TSM);
    fragment_begin(b_places, n0, !TRANS_B, TSN);
    LOAD_FRAGMENTS(0, 0, 0);
    int now = 0;
    int ahead = LAST_STAGE;
    while (left >= (THROUGH_REGISTERS ? 2 * TSK : TSK)) {
      MULTIPLY(TSK, TSK, true);
    }
    while (left > -(STAGES - 1) * TSK) {
      MULTIPLY(left, left - TSK, left > -(STAGES - 2) * TSK);
    }

    __global float* c_member =
        MEMBER(C, p.c_offset, p.c_stride, LISTED(c_table), member) + (long)get_group_id(2) * p.chunk_stride;

    // Compilers would otherwise keep what follows from its being one, or not, all along.
    int cluster = CLUSTERS ? (int)p.cluster : 1;
    OPAQUE(cluster);
    if (V == 4 && cluster == 1 && p.c_vectors != 0) {
#pragma unroll
      for (int wn = 0; wn < WPTN; ++wn) {
        const long col = first_col + n0 + NEXT_COLUMN(wn);
#pragma unroll
        for (int wm = 0; wm < WPTM; wm += 4) {
          const long row = first_row + m0 + wm * LANES_M;
          if (row < p.M && col < p.N) {
            UPDATE(float4, *(__global float4*)&c_member[col * p.ldc + row], p.alpha, vload4(0, acc[wn] + wm),
                   p.beta);
          }
        }
      }
    } else {
      // Through local memory, so that neighbours write what stands beside, and that clusters can add up.
      int item = tid;
      OPAQUE(item);
      const int rank = cluster == 1 ? 0 : (int)get_group_id(2);
      const int rows = (int)LEAST(p.M - first_row, TSM);
      const int cols = (int)LEAST(p.N - first_col, TSN);
      __global float* c_first = c_member + first_col * p.ldc + first_row;
      // Compilers do not know that this is one. They would keep sums that are stored as they are in the four
      // neighbouring registers that a vector needs, and so in the same bank as the values of A that they
      // meet.
      const float one = p.M > first_row ? 1.0f : 0.0f;
#pragma unroll 1
      for (int first = 0; first < QUADRUPLES; first += LAYERS) {
        const int count = LEAST(QUADRUPLES - first, LAYERS);
#pragma unroll
        for (int q = 0; q < QUADRUPLES; ++q) {
          if (q >= first && q < first + LAYERS) {
            vstore4(vload4(0, QUADRUPLE(q)) * one, 0, tiles + (q - first) * LAYER + LAYER_PLACE);
          }
        }
#if CLUSTERS
        if (cluster > 1) {
          CLUSTER_BARRIER();
          ADD_IN_CLUSTER(4, count, cluster, LAYER_READ, LAYER_ADDED);
          CLUSTER_BARRIER_RELAXED();
        }
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        if (p.c_vectors != 0) {
          WRITE_LAYERS(4);
        } else {
          WRITE_LAYERS(1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
      }
    }
  }
}
