// For CPUs: C <- alpha op(A) op(B) + beta C from panels of A, for any size, transpose and batch.
//
// A work-group is one work-item, which has a core to itself. It computes a tile of C, and packs what it reads
// into local memory, which is nothing but a part of the core's caches:
//
//   for each stretch of up to TSK k
//     op(B)  the stretch x tile_n, where it is stored transposed
//     for each share of the tile's rows
//       op(A)  the share x the stretch, in panels of up to VECTORS vectors of rows: the second cache
//       for each block of COLS columns, whose B stays in the first cache
//         for each panel
//           the sums of VECTORS * WIDTH x COLS go on in registers, in ascending k
//
// Between stretches the sums of a tile are in local memory. Barriers there are none: a CPU's driver would
// keep registers in memory across them. A B that is not transposed is read where it stands, because
// neighbours along k are neighbours in memory. So is A without COPY_A, for a C of few columns: all rows in
// short stretches, because its columns are far apart.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major, but for C with ROWS_C. Offsets, strides and
// leading dimensions in elements. Work-groups in the first dimension walk over tiles of tile_m x tile_n,
// those in the second over the batch. A tile is at most SHARES * TSM x TSN, or has more rows where it has
// fewer columns: as many as there is room for sums. Where a single stretch of a copied A has all k, no sums
// are kept: rows are not limited then, nor columns, but by the room for a packed B.

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
#endif
#ifndef COPY_A
#define COPY_A 1  // A is copied, or else read where it stands: 0 1
#endif
#ifndef ROWS_C
#define ROWS_C 0  // C is stored by rows: 0 1
#endif
#ifndef WIDTH
#define WIDTH 4  // rows in a vector: 4 8 16
#endif
#ifndef VECTORS
#define VECTORS 2  // vectors of a block: 1 2 3 4
#endif
#ifndef COLS
#define COLS 4  // columns of a block: 1 2 4 8
#endif
#ifndef TSM
#define TSM 48  // rows that are packed at once for TSK k: 8 16 24 48 72 96 144 192 240 288 384 576
#endif
#ifndef SHARES
#define SHARES 1  // shares of TSM rows in a tile, for all of which op(B) is packed once: 1 2 4 8
#endif
#ifndef TSN
#define TSN 48  // columns of a tile at most: 8 16 32 48 64 96 128 192 256 384 512
#endif
#ifndef TSK
#define TSK 64  // k that are packed at once at most: 8 16 32 64 128 192 256 384 512
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/cpu/cpu_block.h"
#include "gemm/cpu/cpu_pack.h"

// Copies a transposed B, of which `columns` columns are there, block by block: the values of a block for one
// k, then for the next. Blocks are a little more than whole pages apart, or they would compete for the same
// lines of the first cache. STRIP blocks are copied at once, as long as whole ones follow.
#if COLS >= 4
#define COPY_ROW(to, from) VSTORE(COLS)(VLOAD(COLS)(0, from), 0, to)
#else
#define COPY_ROW(to, from)
#endif
enum { STRIP = COLS >= 4 ? 8 : 0, GAP = 16 };
FUNCTION void
pack_b(LOCAL_PTR float* to, const __global float* from, const long ld, const int columns, const int depth) {
  int col = 0;
  for (; STRIP > 0 && columns - col >= (STRIP + 1) * COLS; col += STRIP * COLS) {
    for (int k = 0; k < depth; ++k) {
      const __global float* row = from + k * ld + col;
      for (int i = 0; i < STRIP * COLS; i += LINE) {
        prefetch(row + AHEAD * ld + i, 1);
      }
      EACH(i, STRIP) { COPY_ROW(to + i * (COLS * depth + GAP) + k * COLS, row + i * COLS); }
    }
    to += STRIP * (COLS * depth + GAP);
  }
  while (col < columns) {
    const int there = columns_of_block(columns - col);
    for (int k = 0; k < depth; ++k) {
      const __global float* row = from + k * ld + col;
      if (COLS >= 4 && there == COLS) {
        COPY_ROW(to + k * COLS, row);
      } else {
        for (int n = 0; n < there; ++n) {
          to[k * there + n] = row[n];
        }
      }
    }
    to += there * depth + GAP;
    col += there;
  }
}

#if TRANS_B
#define B_POINTER LOCAL_PTR
#else
#define B_POINTER __global
#endif
#if COPY_A
#define A_POINTER LOCAL_PTR
#define LOAD_LAST(from, there) VLOAD(WIDTH)(0, from)
#else
#define A_POINTER __global
#define LOAD_LAST(from, there) ((there) < WIDTH ? LOAD_ROWS(WIDTH)(from, there) : VLOAD(WIDTH)(0, from))
#endif
// For each of `panels` panels of A, one after the other, adds the products with columns of B, of `depth` k,
// to a block's sums, which are 0 at first and complete at last: then they update C, which is asked for in
// advance. From the first panel on, `rows` rows are there.
#define DEFINE_MULTIPLY(count, cols)                                                                       \
  OWN_FUNCTION void multiply_##count##_x_##cols(                                                           \
      const GemmArguments* p, const A_POINTER float* A, const B_POINTER float* B, const int depth,         \
      LOCAL_PTR float* sums, const int first, const int last, const __global float* c, __global float* d,  \
      const int panels, int rows) {                                                                        \
    const long a_k = COPY_A ? count * WIDTH : p->a.ld,                                                     \
               a_panel = COPY_A ? count * WIDTH * (long)depth : count * WIDTH;                             \
    const long ldb = p->b.ld, ldc = p->c.ld, ldd = p->d.ld;                                                \
    const float alpha = p->alpha, beta = p->beta;                                                          \
    for (int panel = 0; panel < panels; ++panel) {                                                         \
      const int there = rows - (count - 1) * WIDTH;                                                        \
      FLOAT(WIDTH) acc[cols][count];                                                                       \
      EACH(n, cols) {                                                                                      \
        EACH(v, count) {                                                                                   \
          acc[n][v] = first ? (FLOAT(WIDTH))(0.0f) : ((const LOCAL_PTR FLOAT(WIDTH)*)sums)[n * count + v]; \
        }                                                                                                  \
      }                                                                                                    \
      if (last) {                                                                                          \
        EACH(n, cols) {                                                                                    \
          EACH(v, count) { prefetch(d + position_c(v * WIDTH, n, ldd), 1); }                               \
        }                                                                                                  \
      }                                                                                                    \
      for (int k = 0; k < depth; ++k) {                                                                    \
        const A_POINTER float* a = A + k * a_k;                                                            \
        FLOAT(WIDTH) vector[count];                                                                        \
        EACH(v, count) {                                                                                   \
          vector[v] = v < count - 1 ? VLOAD(WIDTH)(0, a + v * WIDTH) : LOAD_LAST(a + v * WIDTH, there);    \
        }                                                                                                  \
        EACH(n, cols) {                                                                                    \
          const FLOAT(WIDTH) b = (FLOAT(WIDTH))(TRANS_B ? B[k * cols + n] : B[n * ldb + k]);               \
          EACH(v, count) { acc[n][v] = fma(vector[v], b, acc[n][v]); }                                     \
        }                                                                                                  \
      }                                                                                                    \
      if (last) {                                                                                          \
        UPDATE_BLOCK(count, cols, there)                                                                   \
      } else {                                                                                             \
        EACH(n, cols) {                                                                                    \
          EACH(v, count) { ((LOCAL_PTR FLOAT(WIDTH)*)sums)[n * count + v] = acc[n][v]; }                   \
        }                                                                                                  \
      }                                                                                                    \
      A += a_panel;                                                                                        \
      sums += count * cols * WIDTH;                                                                        \
      c += position_c(count * WIDTH, 0, ldc);                                                              \
      d += position_c(count * WIDTH, 0, ldd);                                                              \
      rows -= count * WIDTH;                                                                               \
    }                                                                                                      \
  }
#define DEFINE_COLUMNS(cols) \
  DEFINE_MULTIPLY(1, cols)   \
  DEFINE_MULTIPLY(2, cols)   \
  DEFINE_MULTIPLY(3, cols)   \
  DEFINE_MULTIPLY(4, cols)
FOR_COLUMNS(DEFINE_COLUMNS)
#define MULTIPLY(count, cols)                                                                      \
  multiply_##count##_x_##cols(&p, a, b, here, partial, k == 0, k + here == p.K, c, d, end - panel, \
                              rows - begin)
#define COLUMNS(cols)                     \
  if (there == cols) {                    \
    SELECT_VECTORS(count, MULTIPLY, cols) \
  }

// The rows of a tile that are packed at once: all if A is not copied, or else those whose TSK k, or all k if
// these are fewer, are in the second cache. A direct A that is longer has more of them for few columns, in
// shorter stretches: what is read of a column of A, and then is seldom used, is some kilobytes in a row.
FUNCTION int
rows_of_share(const int tile_rows, const int cols, const long K) {
  enum { PANEL_ROWS = VECTORS * WIDTH, SHORTEST = 8 };
  const int vectors = CEIL_DIV(tile_rows, WIDTH);
  if (!COPY_A) {
    return vectors * WIDTH;
  }
  const int wide = TRANS_A ? 1 : LEAST(CEIL_DIV(TSN / 4, cols), TSK / SHORTEST);
  const int most = K <= TSK ? (int)(TSM * TSK / K) / WIDTH * WIDTH : TSM * wide;
  const int shares = CEIL_DIV(vectors * WIDTH, most);
  return LEAST(CEIL_DIV(CEIL_DIV(tile_rows, shares), PANEL_ROWS) * PANEL_ROWS, most);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
cpu_panels(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
           const __global float* B, const __global long* b_table, const __global float* C,
           const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  enum {
    A_PANELS = COPY_A ? TSM * TSK : 0,
    SUMS = SHARES * TSM * TSN,
    B_PANELS = TRANS_B ? TSN * TSK + (TSN / COLS + COLS) * GAP : 0
  };
  __local float memory[A_PANELS + SUMS + B_PANELS] __attribute__((aligned(64)));
  // An offset of 0 that the compiler does not know: PoCL 3.1 loses a local array with whose very address a
  // loop begins.
  LOCAL_PTR float* a_panels = memory + get_local_id(0);
  LOCAL_PTR float* sums = a_panels + A_PANELS;  // where vectors are aligned
  LOCAL_PTR float* b_panels = sums + SUMS;
  long first_row, first_col;
  find_tile(&first_row, &first_col, p.M, p.tile_m, p.tile_n);
  const int tile_rows = (int)LEAST(p.tile_m, p.M - first_row);
  const int cols = (int)LEAST(p.tile_n, p.N - first_col);
  const int share = rows_of_share(tile_rows, cols, p.K);
#if COPY_A
  const int longest = LEAST(TSK, A_PANELS / share);
#else
  // So few columns of A at once that each is read along, but as many as stay in the first cache.
  enum { COLUMNS_OF_A = 16, CACHED = 8192 };
  const int longest = LEAST(TSK, CACHED / LEAST(share, CACHED / COLUMNS_OF_A));
#endif
  const int depth = (int)CEIL_DIV(p.K, CEIL_DIV(p.K, longest));

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* a_member =
        FIND_MEMBER(A, p.a, a_table, member) + first_row * (TRANS_A ? p.a.ld : 1);
    const __global float* b_member =
        FIND_MEMBER(B, p.b, b_table, member) + first_col * (TRANS_B ? 1 : p.b.ld);
    const __global float* c_member =
        FIND_MEMBER(C, p.c, c_table, member) + position_c(first_row, first_col, p.c.ld);
    __global float* d_member =
        FIND_MEMBER(D, p.d, d_table, member) + position_c(first_row, first_col, p.d.ld);
    for (long k = 0; k < p.K; k += depth) {
      const int here = (int)LEAST(depth, p.K - k);
      const __global float* b_from = b_member + k * (TRANS_B ? p.b.ld : 1);
      if (TRANS_B) {
        pack_b(b_panels, b_from, p.b.ld, cols, here);
      }
      for (int row = 0; row < tile_rows; row += share) {
        const int rows = LEAST(share, tile_rows - row);
        const int vectors = CEIL_DIV(rows, WIDTH);
        const int panels = CEIL_DIV(vectors, VECTORS);
        const __global float* a_from = a_member + row * (TRANS_A ? p.a.ld : 1) + k * (TRANS_A ? 1 : p.a.ld);
        if (COPY_A) {
          pack_a(a_panels, a_from, p.a.ld, panels, rows, here);
        }
        for (int col = 0, block = 0; col < cols; ++block) {
          const int there = columns_of_block(cols - col);
#if TRANS_B
          const LOCAL_PTR float* b = b_panels + col * here + block * GAP;
#else
          const __global float* b = b_from + col * p.b.ld;
          (void)block;
#endif
          for (int panel = 0, begin = 0; panel < panels;) {
            const int count = vectors_of_panel(panel, panels, vectors);
            const int end = panel < vectors % panels ? vectors % panels : panels;  // of those with so many
#if COPY_A
            const LOCAL_PTR float* a = a_panels + begin * here;
#else
            const __global float* a = a_from + begin;
#endif
            LOCAL_PTR float* partial =
                depth < p.K ? sums + row * cols + col * vectors * WIDTH + begin * there : sums;
            const __global float* c = c_member + position_c(row + begin, col, p.c.ld);
            __global float* d = d_member + position_c(row + begin, col, p.d.ld);
            FOR_COLUMNS(COLUMNS)
            begin += (end - panel) * count * WIDTH;
            panel = end;
          }
          col += there;
        }
      }
    }
  }
}
