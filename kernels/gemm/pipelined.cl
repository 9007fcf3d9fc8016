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
// g * chunk_stride behind C; or with CLUSTER, they add up what they have, and each writes a share of the
// tile. Work-groups in the first dimension walk over the tiles of C, GROUP_M of them along M before the next
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
#ifndef VA
#define VA 1  // values of A read at once; more need alignment to as many, and whole vectors: 1 2 4
#endif
#ifndef VB
#define VB 1  // values of B read at once; more need alignment to as many, and whole vectors: 1 2 4
#endif
#ifndef VC
#define VC 1  // values of C written at once; more need alignment to as many, and whole vectors: 1 2 4
#endif
#ifndef SHIFTED
#define SHIFTED 0  // columns of A or B that are copied along begin at odd multiples of 16 bytes: 0 1
#endif
#ifndef RAGGED
#define RAGGED 0  // the last vectors along m or n may go beyond the matrix, into the gap behind a column: 0 1
#endif
#ifndef BATCH
#define BATCH 0  // how the members of a batch are found: strides, offsets or addresses, see batch.h: 0 1 2
#endif
#ifndef CLUSTER
#define CLUSTER 1  // parts of k that are added up in a cluster, see cluster.h: 1 2 3 4 5 6 7 8
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
#ifndef SQUARES
#define SQUARES 0  // four neighbouring work-items stand in a square, where not in a line along M: 0 1
#endif
#ifndef TURN_ASYNC
#define TURN_ASYNC 0  // copy turned tiles value by value and past the registers: 0 1
#endif
#ifndef LANES_K
#define LANES_K 4  // with TURN_ASYNC, neighbouring work-items that read along one column: 4 8
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
#ifndef WALK
#define WALK 0  // the order of a work-item's multiply-adds for one k, see below: 0 1 2 3
#endif
#ifndef GROUP_M
#define GROUP_M 8  // tiles along M before the next along N: 1 2 4 8 16 32
#endif
#ifndef FORGETS
#define FORGETS 0  // compute where a work-item stands anew for each member of a batch; spares registers: 0 1
#endif
#ifndef RESIDENT
#define RESIDENT 1  // work-groups that should fit on a multiprocessor, see dialect.h: 0 1 2 3 4 6 8
#endif

// Of such columns, two copies share each 32 bytes of memory: the L1 cache has them for the second one. Short
// columns are slower that way.
#if SHIFTED && ASYNC == 1 && ((!TRANS_A && TSM >= 64) || (TRANS_B && TSN >= 64))
#undef ASYNC
#define ASYNC 2
#endif

#include "dialect.h"
#include "gemm/batch.h"
#include "update.h"

#define WORK_ITEMS ((TSM / WPTM) * (TSN / WPTN))
#include "gemm/cluster.h"
#include "gemm/tiles.h"

// Where in their block 32 neighbours stand. With SQUARES, every work-item reads the same rows as its next but
// one, and the same columns as its next: NVIDIA's GPUs serve such pairs at once (since compute
// capability 7.0).
#define LANES_N (32 / LANES_M)
#define LANE_M(lane) (SQUARES ? (lane) % 2 + (lane) / 4 * 2 % LANES_M : (lane) % LANES_M)
#define LANE_N(lane) (SQUARES ? (lane) / 2 % 2 + (lane) / (2 * LANES_M) * 2 : (lane) / LANES_M)
#define BLOCKS_M (TSM / (LANES_M * WPTM))
#define STAGE (TSK * (TSM + TSN))
#define LAST_STAGE ((STAGES - 1) * STAGE)

// Work-items stand in SLOTS along N. Where the columns of one begin in the tile of C, and where its wn-th is
// from there.
#define SLOTS (TSN / WPTN)
#define SLOT (tid / 32 / BLOCKS_M * LANES_N + LANE_N(tid % 32))
#define FIRST_COLUMN(slot) ((slot) / LANES_N * (LANES_N * WPTN) + (slot) % LANES_N * 4)
#define NEXT_COLUMN(wn) ((wn) / 4 * (4 * LANES_N) + (wn) % 4)
#define WRITES_THROUGH_LOCAL (CLUSTER == 1 && VC < 4 && TSN % 3 != 0 && SLOTS * TSM <= STAGES * STAGE)

// With CLUSTER, the quadruples of a work-item's sums are dealt out: the q-th is the (q % CLUSTER)-th
// work-group's to add up and write. The others put theirs where that one reads them, all rounds of dealing at
// once where 48 KiB are enough for that: barriers between rounds would wait for what was written to C. (So
// much never keeps work-groups out: the sums take more of the registers than of local memory.) The q-th of
// one work-group's stands behind those before it that are not its own.
#define QUADRUPLES (WPTM * WPTN / 4)
#define OF_ALL (4 * WORK_ITEMS)  // values of all work-items' q-th quadruples
#define OTHERS ((CLUSTER - 1) * OF_ALL)
#if CLUSTER > 1
#define IN_LOCAL_MEMORY (48 * 1024 / 4 / OTHERS)
#define ROUNDS LEAST((QUADRUPLES + CLUSTER - 1) / CLUSTER, IN_LOCAL_MEMORY > 0 ? IN_LOCAL_MEMORY : 1)
#define LOCAL_FLOATS (ROUNDS * OTHERS > STAGES * STAGE ? ROUNDS * OTHERS : STAGES * STAGE)
#else
#define LOCAL_FLOATS (STAGES * STAGE)
#endif
#define AT_ONCE LEAST(QUADRUPLES - first, ROUNDS * CLUSTER)
#define EVEN (QUADRUPLES % (ROUNDS * CLUSTER) == 0)
#define DEALT(q, group) (((q) / CLUSTER * (CLUSTER - 1) + (q) % CLUSTER - ((q) % CLUSTER > (group))) * OF_ALL)

// Writes a vector of sums to C, of which `left` values, one at least, are in the matrix.
#define WRITE_VECTOR(place, sum, left)                                        \
  do {                                                                        \
    if (!RAGGED || (left) >= VC) {                                            \
      UPDATE(FLOAT(VC), *(__global FLOAT(VC)*)(place), p.alpha, sum, p.beta); \
    } else {                                                                  \
      float values[VC];                                                       \
      VSTORE(VC)(sum, 0, values);                                             \
      _Pragma("unroll") for (int v = 0; v < VC; ++v) {                        \
        if (v < (left)) {                                                     \
          UPDATE(float, (place)[v], p.alpha, values[v], p.beta);              \
        }                                                                     \
      }                                                                       \
    }                                                                         \
  } while (0)

// A work-item's q-th quadruple, and writing something to where in C it belongs, if the first belongs to
// (row, col) of this tile.
#define QUADRUPLE(q) (acc[(q) / (WPTM / 4)] + (q) % (WPTM / 4) * 4)
#define WRITE(q, row, col, sum)                                            \
  do {                                                                     \
    const int at_row = (row) + (q) % (WPTM / 4) * (4 * LANES_M);           \
    const int at_col = (col) + NEXT_COLUMN((q) / (WPTM / 4));              \
    if ((EVEN || (q) < QUADRUPLES) && at_row < rows && at_col < cols) {    \
      WRITE_VECTOR(&c_first[at_col * p.ldc + at_row], sum, rows - at_row); \
    }                                                                      \
  } while (0)

// In local memory, all work-items' q-th quadruples stand as they do in C: in runs down the columns, of those
// rows that are in them. Where a work-item's is in its run, and where in the tile of C the v-th value is if
// they are the first quadruples.
#define RUN (TSM / WPTM * 4)
#define RUN_PLACE (tid / 32 % BLOCKS_M * (4 * LANES_M) + LANE_M(tid % 32) * 4)
#define RUN_ROW(v) ((v) % RUN / (4 * LANES_M) * (LANES_M * WPTM) + (v) % (4 * LANES_M))
#define RUN_COLUMN(v) FIRST_COLUMN((v) / RUN)

// With WRITES_THROUGH_LOCAL, a work-item writes WPTM values at a time, in vectors. The i-th stands so many
// rows and columns of C from the first.
#define ROWS_ON(i) (VC * WORK_ITEMS * (i) % TSM)
#define COLUMNS_ON(i) FIRST_COLUMN(VC* WORK_ITEMS*(i) / TSM)

// One operand's half of what happens to a tile. A stage is given by where it begins: A's tile, then B's. A
// straight tile is fetched right into its stage, and so is one that is turned on the way. Otherwise, a turned
// one is loaded into registers while the tile before it is on its way, and put into its stage one tile later.
#define NOTHING() \
  do {            \
  } while (0)
#if !TRANS_A
#define A_BEGIN()                                                   \
  const __global float* a_from[STRAIGHT_PLACES(TSM, VA)];           \
  LOCAL_PTR float* const a_place = tiles + STRAIGHT_PLACE(TSM, VA); \
  straight_begin(a_from, a_member, p.lda, first_row, p.M, tid, TSM, VA)
#define A_FETCH(stage) straight_copy(a_place + (stage), a_from, &a_next, p.lda, tid, TSM, VA)
#define A_FETCH_ROWS(stage, rows) \
  straight_copy_rows(a_place + (stage), a_from, &a_next, p.lda, first_row, p.M, rows, -0.0f, tid, TSM, VA)
#define A_LOAD(rows) NOTHING()
#define A_PUT(stage) NOTHING()
#elif TURN_ASYNC
#define A_BEGIN()                                   \
  const __global float* a_from[TURNED_PLACES(TSM)]; \
  turned_begin(a_from, a_member, p.lda, first_row, p.M, tid, TSM)
#define A_FETCH(stage) turned_copy(tiles + (stage), a_from, &a_next, tid, TSM)
#define A_FETCH_ROWS(stage, rows) turned_copy_rows(tiles + (stage), a_from, &a_next, rows, -0.0f, tid, TSM)
#define A_LOAD(rows) NOTHING()
#define A_PUT(stage) NOTHING()
#else
#define A_BEGIN()                                   \
  const __global float* a_from[TURNED_PLACES(TSM)]; \
  float a_values[TURNED_VALUES(TSM)];               \
  turned_begin(a_from, a_member, p.lda, first_row, p.M, tid, TSM)
#define A_FETCH(stage) NOTHING()
#define A_FETCH_ROWS(stage, rows) NOTHING()
#define A_LOAD(rows) turned_load(a_values, a_from, &a_next, rows, -0.0f, tid, TSM, VA)
#define A_PUT(stage) turned_store(tiles + (stage), a_values, tid, TSM)
#endif
#define B_PART(stage) (tiles + (stage) + TSK * TSM)
#if TRANS_B
#define B_BEGIN()                                                               \
  const __global float* b_from[STRAIGHT_PLACES(TSN, VB)];                       \
  LOCAL_PTR float* const b_place = tiles + TSK * TSM + STRAIGHT_PLACE(TSN, VB); \
  straight_begin(b_from, b_member, p.ldb, first_col, p.N, tid, TSN, VB)
#define B_FETCH(stage) straight_copy(b_place + (stage), b_from, &b_next, p.ldb, tid, TSN, VB)
#define B_FETCH_ROWS(stage, rows) \
  straight_copy_rows(b_place + (stage), b_from, &b_next, p.ldb, first_col, p.N, rows, 0.0f, tid, TSN, VB)
#define B_LOAD(rows) NOTHING()
#define B_PUT(stage) NOTHING()
#elif TURN_ASYNC
#define B_BEGIN()                                   \
  const __global float* b_from[TURNED_PLACES(TSN)]; \
  turned_begin(b_from, b_member, p.ldb, first_col, p.N, tid, TSN)
#define B_FETCH(stage) turned_copy(B_PART(stage), b_from, &b_next, tid, TSN)
#define B_FETCH_ROWS(stage, rows) turned_copy_rows(B_PART(stage), b_from, &b_next, rows, 0.0f, tid, TSN)
#define B_LOAD(rows) NOTHING()
#define B_PUT(stage) NOTHING()
#else
#define B_BEGIN()                                   \
  const __global float* b_from[TURNED_PLACES(TSN)]; \
  float b_values[TURNED_VALUES(TSN)];               \
  turned_begin(b_from, b_member, p.ldb, first_col, p.N, tid, TSN)
#define B_FETCH(stage) NOTHING()
#define B_FETCH_ROWS(stage, rows) NOTHING()
#define B_LOAD(rows) turned_load(b_values, b_from, &b_next, rows, 0.0f, tid, TSN, VB)
#define B_PUT(stage) turned_store(B_PART(stage), b_values, tid, TSN)
#endif
#define THROUGH_REGISTERS (!TURN_ASYNC && (TRANS_A || !TRANS_B))

// Both operands' halves. Of a tile, `rows` rows are left, perhaps more than it has, or fewer, or none. With
// RAGGED, the last row of all is none of a whole tile.
#define WHOLE (TSK + RAGGED)
#define FETCH(stage, rows)       \
  do {                           \
    if ((rows) >= WHOLE) {       \
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
    load_fragment(b[which], B_PART(stage), b_places, k, WPTN, 4 * LANES_N, !TRANS_B, TSN);  \
  } while (0)

// The order of the multiply-adds of one k: what a compiler makes of it differs by several percent, because
// neighbours that share an operand spare the register file a read. 0: along N, back and forth; 1: along N;
// 2: along M, back and forth; 3: in blocks of 4 x 2.
#if WALK == 0
#define WALK_M(i) ((i) / WPTN)
#define WALK_N(i) (WALK_M(i) % 2 ? WPTN - 1 - (i) % WPTN : (i) % WPTN)
#elif WALK == 1
#define WALK_M(i) ((i) / WPTN)
#define WALK_N(i) ((i) % WPTN)
#elif WALK == 2
#define WALK_N(i) ((i) / WPTM)
#define WALK_M(i) (WALK_N(i) % 2 ? WPTM - 1 - (i) % WPTM : (i) % WPTM)
#else
#define WALK_M(i) ((i) / 8 % (WPTM / 4) * 4 + (i) % 8 / 2)
#define WALK_N(i) ((i) / 8 / (WPTM / 4) * 2 + ((i) / 2 % 2 ? 1 - (i) % 2 : (i) % 2))
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
        acc[WALK_N(i)][WALK_M(i)] =                                                   \
            fma(a[k % 2][WALK_M(i)], b[k % 2][WALK_N(i)], acc[WALK_N(i)][WALK_M(i)]); \
      }                                                                               \
    }                                                                                 \
    now = next;                                                                       \
    ahead = ahead == LAST_STAGE ? 0 : ahead + STAGE;                                  \
    left -= TSK;                                                                      \
  } while (0)

NUMBERS_OF(PRODUCT_IN_PARTS);

__kernel IN_CLUSTER __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
pipelined(PARAMETERS(PRODUCT_IN_PARTS)) {
  AWAIT_STEP_BEFORE();
  NUMBERS(PRODUCT_IN_PARTS);
  int tid = get_local_id(0);
  int m0 = tid / 32 % BLOCKS_M * (LANES_M * WPTM) + LANE_M(tid % 32) * 4;
  int n0 = FIRST_COLUMN(SLOT);

  const uint tiles_m = (uint)((p.M + TSM - 1) / TSM);
  const uint tiles_n = (uint)((p.N + TSN - 1) / TSN);
  const uint strip = (uint)get_group_id(0) / (GROUP_M * tiles_n);
  const uint in_strip = (uint)get_group_id(0) % (GROUP_M * tiles_n);
  const uint strip_rows = min((uint)GROUP_M, tiles_m - strip * GROUP_M);
  const long first_row = (long)(strip * GROUP_M + in_strip % strip_rows) * TSM;
  const long first_col = (long)(in_strip / strip_rows) * TSN;
  const long first_k = (long)get_group_id(2) * p.k_chunk;
  const int depth = (int)min(p.k_chunk, p.K - first_k);

  __local float tiles[LOCAL_FLOATS] __attribute__((aligned(16)));

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
#if FORGETS
    FORGET(tid);
    FORGET(m0);
    FORGET(n0);
#endif
    const __global float* a_member =
        MEMBER(A, p.a_offset, p.a_stride, a_table, member) + first_k * (TRANS_A ? 1 : p.lda);
    const __global float* b_member =
        MEMBER(B, p.b_offset, p.b_stride, b_table, member) + first_k * (TRANS_B ? p.ldb : 1);
    __global float* c_member =
        MEMBER(C, p.c_offset, p.c_stride, c_table, member) + (long)get_group_id(2) * p.chunk_stride;

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
    int a_places[EXCHANGES(TRANS_A, TSM)];
    int b_places[EXCHANGES(!TRANS_B, TSN)];
    fragment_begin(a_places, m0, TRANS_A, TSM);
    fragment_begin(b_places, n0, !TRANS_B, TSN);
    LOAD_FRAGMENTS(0, 0, 0);
    int now = 0;
    int ahead = LAST_STAGE;
    while (left >= (THROUGH_REGISTERS ? TSK + WHOLE : WHOLE)) {
      MULTIPLY(WHOLE, TSK, true);
    }
    while (left > -(STAGES - 1) * TSK) {
      MULTIPLY(left, left - TSK, left > -(STAGES - 2) * TSK);
    }

#if CLUSTER > 1 || WRITES_THROUGH_LOCAL
    // Compilers do not know that this is one. They would keep sums that are stored as they are in the four
    // neighbouring registers that a vector needs, and so in the same bank as the values of A that they meet.
    const float one = p.M > first_row ? 1.0f : 0.0f;
#endif
#if CLUSTER > 1
    const int rank = (int)get_group_id(2);
    const int rows = (int)LEAST(p.M - first_row, TSM);
    const int cols = (int)LEAST(p.N - first_col, TSN);
    __global float* c_first = c_member + first_col * p.ldc + first_row;
#pragma unroll
    for (int first = 0; first < QUADRUPLES; first += ROUNDS * CLUSTER) {
#pragma unroll
      for (int q = 0; q < AT_ONCE; ++q) {
        if (q % CLUSTER != rank) {
          vstore4(vload4(0, QUADRUPLE(first + q)) * one, 0, tiles + DEALT(q, rank) + 4 * tid);
        }
      }
      CLUSTER_BARRIER();
      // All of a work-group's reads are under way at once.
#pragma unroll
      for (int group = 0; group < CLUSTER; ++group) {
        if (group == rank) {
#pragma unroll
          for (int q = group; q < AT_ONCE; q += CLUSTER) {
            float4 total;
            ADD_CLUSTER(4, total,
                        part == group ? vload4(0, QUADRUPLE(first + q))
                                      : READ_IN_CLUSTER(4, tiles + DEALT(q, part) + 4 * tid, part));
            vstore4(total, 0, QUADRUPLE(first + q));
          }
        }
      }
      CLUSTER_BARRIER();
#if VC == 4
      // Where each of them goes is computed anew for each member of a batch: kept, it would take registers.
      int row = m0;
      int col = n0;
      FORGET(row);
      FORGET(col);
#pragma unroll
      for (int q = 0; q < AT_ONCE; ++q) {
        if (q % CLUSTER == rank) {
          WRITE(first + q, row, col, vload4(0, QUADRUPLE(first + q)));
        }
      }
#else
      // Neighbours write what stands beside.
#pragma unroll
      for (int q = 0; q < AT_ONCE; ++q) {
        if (q % CLUSTER == rank) {
          vstore4(vload4(0, QUADRUPLE(first + q)) * one, 0,
                  tiles + q / CLUSTER * OF_ALL + SLOT * RUN + RUN_PLACE);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
      for (int i = 0; i < 4 / VC; ++i) {
        const int v = (i * WORK_ITEMS + tid) * VC;
        const int row = RUN_ROW(v);
        const int col = RUN_COLUMN(v);
#pragma unroll 4
        for (int round = 0; round < ROUNDS; ++round) {
          WRITE(first + round * CLUSTER + rank, row, col,
                *(const LOCAL_PTR FLOAT(VC)*)(tiles + round * OF_ALL + v));
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
#else
#if WRITES_THROUGH_LOCAL
    const int row = tid * VC % TSM;
    const int col = FIRST_COLUMN(tid * VC / TSM);
    const int rows = (int)LEAST(p.M - first_row, TSM) - row;
    const int cols = (int)LEAST(p.N - first_col, TSN) - col;
    __global float* c_first = c_member + (first_col + col) * p.ldc + first_row + row;
#endif
#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
#if WRITES_THROUGH_LOCAL
      // One column of each work-item at a time, so that neighbours write what stands beside.
#pragma unroll
      for (int wm = 0; wm < WPTM; wm += 4) {
        vstore4(vload4(0, acc[wn] + wm) * one, 0, tiles + SLOT * TSM + m0 + wm * LANES_M);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
      for (int i = 0; i < WPTM / VC; ++i) {
        const int columns_on = COLUMNS_ON(i) + NEXT_COLUMN(wn);
        if (ROWS_ON(i) < rows && columns_on < cols) {
          WRITE_VECTOR(&c_first[columns_on * p.ldc + ROWS_ON(i)],
                       *(const LOCAL_PTR FLOAT(VC)*)(tiles + (tid + i * WORK_ITEMS) * VC), rows - ROWS_ON(i));
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#else
      const long col = first_col + n0 + NEXT_COLUMN(wn);
#pragma unroll
      for (int wm = 0; wm < WPTM; wm += VC) {
        const long row = first_row + m0 + wm / 4 * (4 * LANES_M) + wm % 4;
        if (row < p.M && col < p.N) {
          WRITE_VECTOR(&c_member[col * p.ldc + row], VLOAD(VC)(0, acc[wn] + wm), p.M - row);
        }
      }
#endif
    }
#endif
  }
}
