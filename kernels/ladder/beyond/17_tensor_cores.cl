// Rung 17: FP32 accuracy on tensor cores.
//
// Tensor cores multiply BF16 numbers, of 8 significant bits, and add in FP32. A float has 24 bits: it is the
// sum of three BF16 numbers. Of the nine products of two such sums, the six that matter are computed:
//
//   a = ah + am + al         ah bh                   |ah| >= 2^8 |am| >= 2^16 |al|, about
//   b = bh + bm + bl         ah bm   am bh           a row has products of one size,
//                            ah bl   am bm   al bh   2^8 smaller than the row above
//
// A tensor core cuts off what does not fit when it adds, so that its errors point one way and grow with
// k. After every PROMOTE of k, ordinary additions take its sums into sums of their own (promotion).
//
// A sub-group of 32 work-items multiplies blocks of 16 x 16 by 16 x 8. Where the elements of a block are
// among the work-items is NVIDIA's choice (PTX ISA, "Matrix Fragments for mma.m16n8k16"): a work-item has the
// rows `group` and group + 8 of A and C, the column `group` of B, and of k the pairs `pair` and pair + 4.
// Tiles lie in local memory as such pairs, split already; their rows are 8 longer than they need to be, so
// that a sub-group's 4 pairs of 8 neighbours fall into 32 different banks.
//
// The products are added in another order than rung 1 adds them: the bits differ. Infinities, and numbers
// that BF16 rounds to one, give NaN here.
//
// A is M x K, B is N x K; M, N and K are multiples of TSM, TSN and TSK.
//
// device: compute_capability 80

#ifndef TSM
#define TSM 128  // work-group tile in M: 64 128
#endif
#ifndef TSN
#define TSN 128  // work-group tile in N: 64 128
#endif
#ifndef TSK
#define TSK 16  // tile in K: 16 32
#endif
#ifndef WARP_M
#define WARP_M 64  // rows of C per sub-group: 16 32 64
#endif
#ifndef WARP_N
#define WARP_N 32  // columns of C per sub-group: 16 32 64
#endif
#ifndef PROMOTE
#define PROMOTE 32  // k after which the sums are promoted: 32 64
#endif

#include "dialect.h"
#include "tensor_cores.h"
#include "update.h"

#define WORK_ITEMS (TSM / WARP_M * (TSN / WARP_N) * 32)
#define PAIRS (TSK / 2)
#define BLOCKS_M (WARP_M / 16)
#define BLOCKS_N (WARP_N / 8)
#define PIECES 3

// The position of an operand's tile of `size` rows in local memory: of a pair's row, and a piece.
#define ROW(size) ((size) + 8)
#define PIECE(size) (PAIRS * ROW(size))

// The pairs of such a tile that each work-item brings.
#define BROUGHT(size) (PAIRS * (size) / WORK_ITEMS)

// A work-item's share of a tile, before it is split.
struct Share {
  float even, odd;
};

// Reads it from the tile that begins at `from` in a matrix of `rows` rows.
FUNCTION void fetch(struct Share* share, const __global float* from, const int rows, const int size,
                    const int item) {
#pragma unroll
  for (int l = 0; l < BROUGHT(size); ++l) {
    const int id = l * WORK_ITEMS + item;
    share[l].even = from[id / size * 2 * rows + id % size];
    share[l].odd = from[(id / size * 2 + 1) * rows + id % size];
  }
}

// Splits it, and puts the pieces into local memory. What rounding leaves of a number is the next piece.
FUNCTION void put(LOCAL_PTR uint* tile, const struct Share* share, const int size, const int item) {
#pragma unroll
  for (int l = 0; l < BROUGHT(size); ++l) {
    const int id = l * WORK_ITEMS + item;
    float even = share[l].even;
    float odd = share[l].odd;
#pragma unroll
    for (int i = 0; i < PIECES; ++i) {
      const uint rounded = PACK(BF16, even, odd);
      tile[i * PIECE(size) + id / size * ROW(size) + id % size] = rounded;
      even -= FIRST(BF16, rounded);
      odd -= SECOND(BF16, rounded);
    }
  }
}

// A lane reads this of B for 16 k: of every block of 8 columns, two pairs of k of each piece.
FUNCTION void read_b(uint (*b)[PIECES][2], const LOCAL_PTR uint* from) {
#pragma unroll
  for (int bn = 0; bn < BLOCKS_N; ++bn) {
#pragma unroll
    for (int i = 0; i < PIECES; ++i) {
      b[bn][i][0] = from[i * PIECE(TSN) + bn * 8];
      b[bn][i][1] = from[i * PIECE(TSN) + bn * 8 + 4 * ROW(TSN)];
    }
  }
}

// And of A, of one block of 16 rows.
FUNCTION void read_a(uint (*a)[4], const LOCAL_PTR uint* from) {
#pragma unroll
  for (int i = 0; i < PIECES; ++i) {
    a[i][0] = from[i * PIECE(TSM)];
    a[i][1] = from[i * PIECE(TSM) + 8];
    a[i][2] = from[i * PIECE(TSM) + 4 * ROW(TSM)];
    a[i][3] = from[i * PIECE(TSM) + 4 * ROW(TSM) + 8];
  }
}

// Adds the products of two tiles, of which this lane reads what stands at and after a_from and b_from.
FUNCTION void multiply(float (*acc)[4], const LOCAL_PTR uint* a_from, const LOCAL_PTR uint* b_from) {
#pragma unroll
  for (int k = 0; k < PAIRS; k += 8) {
    uint b[BLOCKS_N][PIECES][2];
    read_b(b, b_from + k * ROW(TSN));
#pragma unroll
    for (int bm = 0; bm < BLOCKS_M; ++bm) {
      uint a[PIECES][4];
      read_a(a, a_from + k * ROW(TSM) + bm * 16);
      // The smallest products first: little of them is cut off then.
#pragma unroll
      for (int small = PIECES - 1; small >= 0; --small) {
#pragma unroll
        for (int i = 0; i <= small; ++i) {
#pragma unroll
          for (int bn = 0; bn < BLOCKS_N; ++bn) {
            MULTIPLY_BLOCK(BF16, acc[bm * BLOCKS_N + bn], a[i], b[bn][small - i]);
          }
        }
      }
    }
  }
}

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void
tensor_cores(const int M, const int N, const int K, const float alpha, const __global float* A,
             const __global float* B, const float beta, __global float* C) {
  __local uint Asub[PIECES * PIECE(TSM)];  // [piece][pair of k][m]
  __local uint Bsub[PIECES * PIECE(TSN)];  // [piece][pair of k][n]
  const int item = get_local_id(0);
  const int warp = item / 32;
  const int group = item % 32 / 4;
  const int pair = item % 4;
  const int row = warp % (TSM / WARP_M) * WARP_M + group;
  const int col = warp / (TSM / WARP_M) * WARP_N;
  const int offset_m = TSM * get_group_id(0);
  const int offset_n = TSN * get_group_id(1);

  float acc[BLOCKS_M * BLOCKS_N][4];  // what the tensor cores add up
  float sum[BLOCKS_M * BLOCKS_N][4];  // what was promoted
#pragma unroll
  for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      acc[block][i] = sum[block][i] = 0.0f;
    }
  }

  struct Share a_share[BROUGHT(TSM)], b_share[BROUGHT(TSN)];
  fetch(a_share, A + offset_m, M, TSM, item);
  fetch(b_share, B + offset_n, N, TSN, item);

  for (int tile = 0; tile < K; tile += TSK) {
    put(Asub, a_share, TSM, item);
    put(Bsub, b_share, TSN, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile + TSK < K) {
      fetch(a_share, A + (tile + TSK) * M + offset_m, M, TSM, item);
      fetch(b_share, B + (tile + TSK) * N + offset_n, N, TSN, item);
    }

    multiply(acc, Asub + pair * ROW(TSM) + row, Bsub + pair * ROW(TSN) + col + group);
    barrier(CLK_LOCAL_MEM_FENCE);

    if ((tile + TSK) % PROMOTE == 0 || tile + TSK >= K) {
#pragma unroll
      for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          sum[block][i] += acc[block][i];
          acc[block][i] = 0.0f;
        }
      }
    }
  }

#pragma unroll
  for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
    const int first_row = offset_m + row + block / BLOCKS_N * 16;
    const int first_col = offset_n + col + block % BLOCKS_N * 8 + 2 * pair;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      UPDATE(float, C[(first_col + i % 2) * M + first_row + i / 2 * 8], alpha, sum[block][i], beta);
    }
  }
}
