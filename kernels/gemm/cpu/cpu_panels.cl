// For CPUs: C <- alpha op(A) op(B) + beta C from packed panels of A, for any size, transpose and batch.
//
// A work-group is one work-item, which has a core to itself. It computes a tile of C; local memory is nothing
// but a part of the core's cache:
//
//   op(A)  tile_m x TSK at once, in panels of up to VECTORS vectors --+   blocks of VECTORS * WIDTH x COLS
//   op(B)  TSK x COLS at once, where it stands -----------------------+-> in registers for TSK of k
//   sums   of the tile, where K exceeds TSK; a sum goes on where it was, in ascending k
//
// Barriers there are none: a CPU's driver would keep registers in memory across them. The panels of A are
// read from the second cache, once for each panel of B, which stays in the first. To pack that as well takes
// longer than it saves: its elements are read one by one, and so few panels of A use it.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major, but for C with ROWS_C. Offsets, strides and
// leading dimensions in elements. Work-groups in the first dimension walk over tiles of tile_m x tile_n, at
// most TSM and, where K exceeds TSK, TSN; those in the second over the batch.

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
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
#define TSM 48  // rows of a tile at most: 8 16 24 48 72 96 144 192 240 288 384 576
#endif
#ifndef TSN
#define TSN 48  // columns of a tile at most, where K exceeds TSK: 8 16 32 48 64 96 128 192 256 384 512
#endif
#ifndef TSK
#define TSK 64  // k that are packed at once at most: 8 16 32 64 128 192 256 384 512
#endif

#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/cpu/cpu_block.h"
#include "gemm/cpu/cpu_pack.h"

FUNCTION void
pack_a(LOCAL_PTR float* to, const __global float* from, const long ld, const int rows, const int present,
       const int depth) {
  if (TRANS_A) {
    pack_transposed(to, from, ld, rows, present, depth);
  } else {
    pack_direct(to, from, ld, rows, present, depth);
  }
}

// Adds the products of a panel of A and columns of B, of `depth` k, to a block's sums, which are 0 at first
// and complete at last: then they update C, of which `rows` x `cols` are there.
#define DEFINE_MULTIPLY(count)                                                                               \
  FUNCTION void multiply_##count(const LOCAL_PTR float* a, const __global float* B, const long ldb,          \
                                 const int depth, LOCAL_PTR float* sums, const int first, const int last,    \
                                 __global float* d, const long ldd, const __global float* c, const long ldc, \
                                 const int rows, const int cols, const float alpha, const float beta) {      \
    const long b_step = TRANS_B ? ldb : 1;                                                                   \
    const __global float* b[COLS];                                                                           \
    EACH(n, COLS) { b[n] = B + LEAST(n, cols - 1) * (TRANS_B ? 1 : ldb); }                                   \
    FLOAT(WIDTH) acc[COLS][count];                                                                           \
    EACH(n, COLS) {                                                                                          \
      EACH(v, count) {                                                                                       \
        acc[n][v] = first ? (FLOAT(WIDTH))(0.0f) : ((const LOCAL_PTR FLOAT(WIDTH)*)sums)[n * count + v];     \
      }                                                                                                      \
    }                                                                                                        \
    for (int k = 0; k < depth; ++k) {                                                                        \
      FLOAT(WIDTH) a_k[count];                                                                               \
      EACH(v, count) { a_k[v] = ((const LOCAL_PTR FLOAT(WIDTH)*)a)[v]; }                                     \
      EACH(n, COLS) {                                                                                        \
        const FLOAT(WIDTH) b_k = (FLOAT(WIDTH))(b[n][k * b_step]);                                           \
        EACH(v, count) { acc[n][v] = fma(a_k[v], b_k, acc[n][v]); }                                          \
      }                                                                                                      \
      a += count * WIDTH;                                                                                    \
    }                                                                                                        \
    EACH(n, COLS) {                                                                                          \
      EACH(v, count) {                                                                                       \
        if (!last) {                                                                                         \
          ((LOCAL_PTR FLOAT(WIDTH)*)sums)[n * count + v] = acc[n][v];                                        \
        } else if (n < cols) {                                                                               \
          update_rows(d, ldd, c, ldc, v* WIDTH, n, 0, rows - v * WIDTH, alpha, beta, acc[n][v]);             \
        }                                                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  }
DEFINE_MULTIPLY(1)
DEFINE_MULTIPLY(2)
DEFINE_MULTIPLY(3)
DEFINE_MULTIPLY(4)
#define MULTIPLY(count)                                                                                      \
  multiply_##count(a, b, p.b.ld, here, partial, k == 0, k + here == p.K, d, p.d.ld, c, p.c.ld, rows - begin, \
                   cols - col, p.alpha, p.beta)

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
cpu_panels(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
           const __global float* B, const __global long* b_table, const __global float* C,
           const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  long first_row, first_col;
  find_tile(&first_row, &first_col, p.M, p.tile_m, p.tile_n);
  __local float memory[TSM * TSK + TSM * TSN] __attribute__((aligned(64)));
  // An offset of 0 that the compiler does not know: PoCL 3.1 loses a local array with whose very address a
  // loop begins.
  LOCAL_PTR float* a_tile = memory + get_local_id(0);
  LOCAL_PTR float* sums = a_tile + TSM * TSK;  // where vectors are aligned, as TSM is a multiple of WIDTH
  const int rows = (int)LEAST(p.tile_m, p.M - first_row);
  const int cols = (int)LEAST(p.tile_n, p.N - first_col);
  const int vectors = CEIL_DIV(rows, WIDTH);
  const int panels = CEIL_DIV(vectors, VECTORS);
  const int depth = (int)CEIL_DIV(p.K, CEIL_DIV(p.K, TSK));

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* a_member = MEMBER(A, p.a, a_table, member) + first_row * (TRANS_A ? p.a.ld : 1);
    const __global float* b_member = MEMBER(B, p.b, b_table, member) + first_col * (TRANS_B ? 1 : p.b.ld);
    const __global float* c_member =
        MEMBER(C, p.c, c_table, member) + position_c(first_row, first_col, p.c.ld);
    __global float* d_member = MEMBER(D, p.d, d_table, member) + position_c(first_row, first_col, p.d.ld);
    for (long k = 0; k < p.K; k += depth) {
      const int here = (int)LEAST(depth, p.K - k);
      const __global float* a_from = a_member + k * (TRANS_A ? 1 : p.a.ld);
      const __global float* b_from = b_member + k * (TRANS_B ? p.b.ld : 1);
      for (int panel = 0; panel < panels; ++panel) {
        const int begin = (int)first_vector(panel, panels, vectors) * WIDTH;
        const int end = (int)first_vector(panel + 1, panels, vectors) * WIDTH;
        pack_a(a_tile + begin * here, a_from + begin * (TRANS_A ? p.a.ld : 1), p.a.ld, end - begin,
               rows - begin, here);
      }
      for (int col = 0; col < cols; col += COLS) {
        const __global float* b = b_from + col * (TRANS_B ? 1 : p.b.ld);
        for (int panel = 0; panel < panels; ++panel) {
          const int first = (int)first_vector(panel, panels, vectors);
          const int count = (int)first_vector(panel + 1, panels, vectors) - first;
          const int begin = first * WIDTH;
          const LOCAL_PTR float* a = a_tile + begin * here;
          LOCAL_PTR float* partial = sums + col * TSM + begin * COLS;
          const __global float* c = c_member + position_c(begin, col, p.c.ld);
          __global float* d = d_member + position_c(begin, col, p.d.ld);
          SELECT_VECTORS(count, MULTIPLY)
        }
      }
    }
  }
}
