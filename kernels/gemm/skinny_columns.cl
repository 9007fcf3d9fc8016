// C <- alpha op(A) op(B) + beta C with few columns, or few rows, at the speed of memory: the long operand is
// stored with its rows beside each other, so that neighbouring work-items read down one of its columns.
//
//            k ->            Each work-item has WIDTH rows of X and SKINNY sums for each. LANES of them stand
//   rows  +--------+         along the rows. SLICES of them share those rows and take every SLICES-th k;
//   their
//    |    |   X    | * Y     sums are added in the end, slice by slice. With one slice a sum is one chain in
//    v    +--------+         ascending k.
//
// K may be split further: work-groups numbered g in the third dimension take k from g * k_chunk on, and write
// g * chunk_stride behind C; or those of a cluster add up what they have, and each writes a share of it.
// Those in the second dimension walk over the batch.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major. Offsets, strides and leading dimensions in
// elements. K is below 2^30.

#ifndef SIDE
#define SIDE 0  // N is the skinny side, or M; then A is not transposed, or B is: 0 1
#endif
#ifndef SKINNY
#define SKINNY 4  // what the skinny side has at most: 1 4
#endif
#ifndef Y_ALONG_K
#define Y_ALONG_K 1  // whether the skinny operand is stored with its k beside each other: 0 1
#endif
#ifndef VX
#define VX 1  // values of the long operand read at once; 4 needs alignment, and whole vectors: 1 4
#endif
#ifndef WIDTH
#define WIDTH 4  // rows of each work-item: 1 2 4
#endif
#ifndef LANES
#define LANES 32  // work-items beside each other along the rows: 8 16 32 64 128
#endif
#ifndef SLICES
#define SLICES 4  // work-items that share rows: 1 2 4 8 16 32 64
#endif
#ifndef DEPTH
#define DEPTH 64  // rows of the skinny operand in local memory: 16 32 64 128 256 512 1024 2048 4096
#endif
#ifndef RESIDENT
#define RESIDENT 1  // work-groups that should fit on a multiprocessor, see dialect.h: 0 1 2 3
#endif

#include "dialect.h"
#include "gemm/batch.h"
#include "update.h"

#define WORK_ITEMS (LANES * SLICES)
#define ROWS (LANES * WIDTH)
#define Y_PLACE(k, t) ((k)*SKINNY + (t))
#include "gemm/skinny.h"

// Rows of a work-item: vectors of VX, LANES vectors apart.
#define ROW(i) ((i) / VX * (LANES * VX) + lane * VX + (i) % VX)

// A work-item reads its values of X for AHEAD k at once, SLICES apart: the first before it waits for Y.
#define AHEAD 8
#define LOAD(x, count, k)                                                                               \
  do {                                                                                                  \
    _Pragma("unroll") for (int j = 0; j < (count); ++j) {                                               \
      _Pragma("unroll") for (int i = 0; i < WIDTH; i += VX) {                                           \
        VSTORE(VX)(*(const __global FLOAT(VX)*)(from[i / VX] + ((k) + j * SLICES) * ldx), 0, x[j] + i); \
      }                                                                                                 \
    }                                                                                                   \
  } while (0)
#define MULTIPLY(x, count, k)                                                        \
  do {                                                                               \
    _Pragma("unroll") for (int j = 0; j < (count); ++j) {                            \
      _Pragma("unroll") for (int t = 0; t < SKINNY; ++t) {                             \
        _Pragma("unroll") for (int i = 0; i < WIDTH; ++i) {                          \
          sum[t][i] = fma(x[j][i], shared[Y_PLACE((k) + j * SLICES, t)], sum[t][i]); \
        }                                                                            \
      }                                                                              \
    }                                                                                \
  } while (0)

NUMBERS_OF(PRODUCT_IN_SLICES);

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
skinny_columns(PARAMETERS(PRODUCT_IN_SLICES)) {
  NUMBERS(PRODUCT_IN_SLICES);
  const int tid = get_local_id(0);
  const int lane = tid % LANES;
  const int slice = tid / LANES;
  const long length = OF_X(p.M, p.N);
  const int width = (int)OF_Y(p.M, p.N);
  const long ldx = OF_X(p.lda, p.ldb);
  const long ldy = OF_Y(p.lda, p.ldb);
  const long first_row = (long)get_group_id(0) * ROWS;
  const long first_k = (long)get_group_id(2) * p.k_chunk;
  const int depth = (int)min(p.k_chunk, p.K - first_k);

  // Rows of Y first, then sums.
  __local float shared[DEPTH * SKINNY > WORK_ITEMS * WIDTH ? DEPTH * SKINNY : WORK_ITEMS * WIDTH]
      __attribute__((aligned(16)));
  TOTALS();

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* a_member = MEMBER(A, p.a_offset, p.a_stride, a_table, member);
    const __global float* b_member = MEMBER(B, p.b_offset, p.b_stride, b_table, member);
    const __global float* x_member = OF_X(a_member, b_member) + first_k * ldx;
    const __global float* y_member = OF_Y(a_member, b_member) + first_k * (Y_ALONG_K ? 1 : ldy);
    __global float* c_member =
        MEMBER(C, p.c_offset, p.c_stride, c_table, member) + (long)get_group_id(2) * p.chunk_stride;

    // Rows beyond the last are never written: the last is read in their place.
    const __global float* from[WIDTH / VX];
#pragma unroll
    for (int i = 0; i < WIDTH; i += VX) {
      from[i / VX] = x_member + LEAST(first_row + ROW(i), (length - 1) / VX * VX);
    }
    float sum[SKINNY][WIDTH];
#pragma unroll
    for (int t = 0; t < SKINNY; ++t) {
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        sum[t][i] = 0.0f;
      }
    }

    for (int left = depth; left > 0; left -= DEPTH) {
      const int count = min(left, DEPTH);
      const int end = count - (AHEAD - 1) * SLICES;  // of where AHEAD may begin
      int k = slice;
      float x[AHEAD][WIDTH];
      if (k < end) {
        LOAD(x, AHEAD, k);
      }
      stage_thin(shared, y_member, ldy, left, width, tid);
      barrier(CLK_LOCAL_MEM_FENCE);
      while (k < end) {
        MULTIPLY(x, AHEAD, k);
        k += AHEAD * SLICES;
        if (k < end) {
          LOAD(x, AHEAD, k);
        }
      }
      for (; k < count; k += SLICES) {
        LOAD(x, 1, k);
        MULTIPLY(x, 1, k);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (int i = 0; i < WIDTH; i += VX) {
        from[i / VX] += DEPTH * ldx;
      }
      y_member += DEPTH * (Y_ALONG_K ? 1 : ldy);
    }

#pragma unroll
    for (int t = 0; t < SKINNY; ++t) {
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        shared[slice * ROWS + ROW(i)] = sum[t][i];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = tid; i < ROWS; i += WORK_ITEMS) {
        float total = shared[i];
        for (int s = 1; s < SLICES; ++s) {
          total += shared[s * ROWS + i];
        }
        FINISH(i, t, total);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    FINISH_CLUSTER();
  }
}
