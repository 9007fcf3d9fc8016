// D <- alpha op(A) op(B) + beta C with few columns, or few rows, at the speed of memory: the long operand is
// stored with its rows side by side, so that neighbouring work-items read down one of its columns.
//
//   X, in memory and in work-items (LANES 4, SLICES 2)
//
//            k ->             Each work-item has WIDTH rows of X and SKINNY sums for each. LANES of them
//   rows  +----------------+  stand along the rows. SLICES of them share those rows and take every SLICES-th
//    |    | 0 4 0 4 0 4 .. |  k; their sums are added in the end, slice by slice. With one slice a sum is one
//    v    | 1 5 1 5 1 5 .. |  chain in ascending k.
//         | 2 6 2 6 2 6 .. |
//         | 3 7 3 7 3 7 .. |  skinny.h has what there is of Y and C, and how K may be split further.
//         +----------------+

#ifndef SIDE
#define SIDE 0  // N is the skinny side, or M; then A is not transposed, or B is: 0 1
#endif
#ifndef VX
#define VX 1  // values of the long operand read at once; 4 needs alignment, and whole vectors: 1 4
#endif
#ifndef WIDTH
#define WIDTH 4  // rows of each work-item: 1 2 4
#endif
#ifndef LANES
#define LANES 32  // work-items side by side along the rows: 8 16 32 64 128
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

#include "gemm/skinny/config.h"
#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "update.h"

enum { WORK_ITEMS = LANES * SLICES, ROWS = LANES * WIDTH, X_ALONG_K = 0 };
#define Y_PLACE(k, t) ((k)*SKINNY + (t))
#include "gemm/skinny/skinny.h"

// Rows of a work-item: vectors of VX, LANES vectors apart.
FUNCTION int
row_of(const int i, const int lane) {
  return i / VX * (LANES * VX) + lane * VX + i % VX;
}

// A work-item reads its values of X for AHEAD k at once, SLICES apart: the first before it waits for Y.
enum { AHEAD = 8 };

// A work-item reads X from here. Rows beyond the last are never written: the last is read in their place.
FUNCTION void
begin_x(const __global float** from, const __global float* x_member, const Share s, const int lane) {
#pragma unroll
  for (int i = 0; i < WIDTH; i += VX) {
    from[i / VX] = x_member + LEAST(s.first_row + row_of(i, lane), (s.length - 1) / VX * VX);
  }
}

FUNCTION void
load_x(float x[][WIDTH], const __global float** from, const long ldx, const int count, const int k) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
#pragma unroll
    for (int i = 0; i < WIDTH; i += VX) {
      VSTORE(VX)(*(const __global FLOAT(VX)*)(from[i / VX] + (k + j * SLICES) * ldx), 0, x[j] + i);
    }
  }
}

FUNCTION void
multiply(float sum[SKINNY][WIDTH], float x[][WIDTH], const LOCAL_PTR float* y, const int count, const int k) {
#pragma unroll
  for (int j = 0; j < count; ++j) {
#pragma unroll
    for (int t = 0; t < SKINNY; ++t) {
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        sum[t][i] = fma(x[j][i], y[Y_PLACE(k + j * SLICES, t)], sum[t][i]);
      }
    }
  }
}

// Adds up the slices' sums, one column of C at a time.
FUNCTION void
finish_sums(const Result r, const Share s, LOCAL_PTR float* totals, LOCAL_PTR float* shared,
            float sum[SKINNY][WIDTH], const int lane, const int slice, const int tid) {
#pragma unroll
  for (int t = 0; t < SKINNY; ++t) {
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      shared[slice * ROWS + row_of(i, lane)] = sum[t][i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = tid; i < ROWS; i += WORK_ITEMS) {
      float total = shared[i];
      for (int each = 1; each < SLICES; ++each) {
        total += shared[each * ROWS + i];
      }
      finish(r, s, totals, i, t, total);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
skinny_columns(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
               const __global float* B, const __global long* b_table, const __global float* C,
               const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  const int tid = get_local_id(0);
  const int lane = tid % LANES;
  const int slice = tid / LANES;
  Share s;
  find_share(&s, &p);

  // Rows of Y first, then sums. The loops over Y stand here, not in a function: NVIDIA's compiler then takes
  // fewer registers.
  __local float shared[DEPTH * SKINNY > WORK_ITEMS * WIDTH ? DEPTH * SKINNY : WORK_ITEMS * WIDTH]
      __attribute__((aligned(16)));
  __local float totals[TOTALS];

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* x_member;
    const __global float* y;
    Result r;
    find_operands(&x_member, &y, &p, s, A, a_table, B, b_table, member);
    find_result(&r, &p, C, c_table, D, d_table, member);

    const __global float* from[WIDTH / VX];
    begin_x(from, x_member, s, lane);
    float sum[SKINNY][WIDTH];
#pragma unroll
    for (int row = 0; row < SKINNY; ++row) {
      set_to_zero(sum[row], WIDTH);
    }

    for (int left = s.depth; left > 0; left -= DEPTH) {
      const int count = min(left, DEPTH);
      const int end = count - (AHEAD - 1) * SLICES;  // of where AHEAD may begin
      int k = slice;
      float x[AHEAD][WIDTH];
      if (k < end) {
        load_x(x, from, s.ldx, AHEAD, k);
      }
      stage_y(shared, y, s, left, tid);
      barrier(CLK_LOCAL_MEM_FENCE);
      while (k < end) {
        multiply(sum, x, shared, AHEAD, k);
        k += AHEAD * SLICES;
        if (k < end) {
          load_x(x, from, s.ldx, AHEAD, k);
        }
      }
      for (; k < count; k += SLICES) {
        load_x(x, from, s.ldx, 1, k);
        multiply(sum, x, shared, 1, k);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (int i = 0; i < WIDTH; i += VX) {
        from[i / VX] += DEPTH * s.x_next;
      }
      y += DEPTH * s.y_next;
    }
    finish_sums(r, s, totals, shared, sum, lane, slice, tid);
    finish_cluster(r, s, totals, tid);
  }
}
