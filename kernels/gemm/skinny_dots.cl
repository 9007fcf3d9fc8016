// C <- alpha op(A) op(B) + beta C with few columns, or few rows, at the speed of memory: the long operand is
// stored row by row, so that neighbouring work-items read along one of its rows.
//
//            k ->            LANES work-items share HEIGHT rows of X and take vectors of VX in turns. Their
//   rows  +--------+         sums are added in the end, in pairs: the result depends on LANES, and is one
//   chain
//    |    |   X    | * Y     in ascending k for one lane only.
//    v    +--------+
//
// K may be split further: work-groups numbered g in the third dimension take k from g * k_chunk on, and write
// g * chunk_stride behind C; or those of a cluster add up what they have, and each writes a share of it.
// Those in the second dimension walk over the batch.
//
// op(A) is M x K, op(B) is K x N, C is M x N, all column-major. Offsets, strides and leading dimensions in
// elements. K is below 2^30.

#ifndef SIDE
#define SIDE 0  // N is the skinny side, or M; then A is transposed, or B is not: 0 1
#endif
#ifndef SKINNY
#define SKINNY 4  // what the skinny side has at most: 1 4
#endif
#ifndef Y_ALONG_K
#define Y_ALONG_K 1  // whether the skinny operand is stored with its k beside each other: 0 1
#endif
#ifndef VX
#define VX 1  // values of the long operand read at once; 4 needs alignment: 1 4
#endif
#ifndef HEIGHT
#define HEIGHT 4  // rows of each work-item: 1 2 4 8
#endif
#ifndef LANES
#define LANES 32  // work-items that share rows: 1 8 16 32 64 128 256
#endif
#ifndef GROUP
#define GROUP 128  // work-items per work-group: 32 64 128 256
#endif
#ifndef DEPTH
#define DEPTH 128  // rows of the skinny operand in local memory: 16 32 64 128 256 512 1024 2048 4096
#endif
#ifndef RESIDENT
#define RESIDENT 1  // work-groups that should fit on a multiprocessor, see dialect.h: 0 1
#endif

#include "dialect.h"
#include "gemm/batch.h"
#include "update.h"

#define WORK_ITEMS GROUP
#define TEAMS (GROUP / LANES)
#define ROWS (TEAMS * HEIGHT)
#define Y_PLACE(k, t) ((t) * (DEPTH + 4) + (k))  // 4 apart in the banks
#include "gemm/skinny.h"

// Multiplies `count` values of k, from k on, into the sums.
#define ADD(k, count)                                                                                     \
  do {                                                                                                    \
    float x[HEIGHT][count];                                                                               \
    _Pragma("unroll") for (int i = 0; i < HEIGHT; ++i) {                                                  \
      VSTORE(count)(*(const __global FLOAT(count)*)(from[i] + (k)), 0, x[i]);                             \
    }                                                                                                     \
    _Pragma("unroll") for (int t = 0; t < SKINNY; ++t) {                                                    \
      float y[count];                                                                                     \
      VSTORE(count)(*(const LOCAL_PTR FLOAT(count)*)(shared + Y_PLACE(k, t)), 0, y);                      \
      _Pragma("unroll") for (int v = 0; v < count; ++v) {                                                 \
        _Pragma("unroll") for (int i = 0; i < HEIGHT; ++i) { sum[i][t] = fma(x[i][v], y[v], sum[i][t]); } \
      }                                                                                                   \
    }                                                                                                     \
  } while (0)

NUMBERS_OF(PRODUCT_IN_SLICES);

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
skinny_dots(PARAMETERS(PRODUCT_IN_SLICES)) {
  NUMBERS(PRODUCT_IN_SLICES);
  const int tid = get_local_id(0);
  const int lane = tid % LANES;
  const int team = tid / LANES;
  const long length = OF_X(p.M, p.N);
  const int width = (int)OF_Y(p.M, p.N);
  const long ldx = OF_X(p.lda, p.ldb);
  const long ldy = OF_Y(p.lda, p.ldb);
  const long first_row = (long)get_group_id(0) * ROWS;
  const long first_k = (long)get_group_id(2) * p.k_chunk;
  const int depth = (int)min(p.k_chunk, p.K - first_k);

  // Rows of Y first, then sums.
  __local float shared[SKINNY * (DEPTH + 4 > WORK_ITEMS ? DEPTH + 4 : WORK_ITEMS)]
      __attribute__((aligned(16)));
  TOTALS();

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* a_member = MEMBER(A, p.a_offset, p.a_stride, a_table, member);
    const __global float* b_member = MEMBER(B, p.b_offset, p.b_stride, b_table, member);
    const __global float* x_member = OF_X(a_member, b_member) + first_k;
    const __global float* y_member = OF_Y(a_member, b_member) + first_k * (Y_ALONG_K ? 1 : ldy);
    __global float* c_member =
        MEMBER(C, p.c_offset, p.c_stride, c_table, member) + (long)get_group_id(2) * p.chunk_stride;

    // Rows beyond the last are never written: the last is read in their place.
    const __global float* from[HEIGHT];
    float sum[HEIGHT][SKINNY];
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i) {
      from[i] = x_member + LEAST(first_row + i * TEAMS + team, length - 1) * ldx;
#pragma unroll
      for (int t = 0; t < SKINNY; ++t) {
        sum[i][t] = 0.0f;
      }
    }

    for (int left = depth; left > 0; left -= DEPTH) {
      stage_thin(shared, y_member, ldy, left, width, tid);
      barrier(CLK_LOCAL_MEM_FENCE);
      if (left >= DEPTH) {
#pragma unroll 4
        for (int k = lane * VX; k < DEPTH; k += LANES * VX) {
          ADD(k, VX);
        }
      } else {
        const int whole = left / VX * VX;
#pragma unroll 4
        for (int k = lane * VX; k < whole; k += LANES * VX) {
          ADD(k, VX);
        }
        for (int k = whole + lane; k < left; k += LANES) {
          ADD(k, 1);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (int i = 0; i < HEIGHT; ++i) {
        from[i] += DEPTH;
      }
      y_member += DEPTH * (Y_ALONG_K ? 1 : ldy);
    }

#pragma unroll
    for (int i = 0; i < HEIGHT; ++i) {
#pragma unroll
      for (int t = 0; t < SKINNY; ++t) {
        shared[t * WORK_ITEMS + tid] = sum[i][t];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int reach = LANES / 2; reach > 0; reach /= 2) {
        if (lane < reach) {
#pragma unroll
          for (int t = 0; t < SKINNY; ++t) {
            shared[t * WORK_ITEMS + tid] += shared[t * WORK_ITEMS + tid + reach];
          }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      for (int t = lane; t < width; t += LANES) {
        FINISH(i * TEAMS + team, t, shared[t * WORK_ITEMS + team * LANES]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    FINISH_CLUSTER();
  }
}
