// D <- alpha op(A) op(B) + beta C with few columns, or few rows, at the speed of memory: the long operand is
// stored row by row, so that neighbouring work-items read along one of its rows.
//
//   X, in memory and in work-items (LANES 4, GROUP 8)
//
//            k ->             LANES work-items, a team, share HEIGHT rows of X and take vectors of VX in
//   rows  +----------------+  turns. Their sums are added in the end, in pairs: the result depends on LANES,
//    |    | 0 1 2 3 0 1 .. |  and is one chain in ascending k for one lane only.
//    v    | 4 5 6 7 4 5 .. |
//         | 0 1 2 3 0 1 .. |  skinny.h has what there is of Y and C, and how K may be split further.
//         | 4 5 6 7 4 5 .. |
//         +----------------+

#ifndef SIDE
#define SIDE 0  // N is the skinny side, or M; then A is transposed, or B is not: 0 1
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

#include "gemm/skinny/config.h"
#include "dialect.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "update.h"

enum { WORK_ITEMS = GROUP, TEAMS = GROUP / LANES, ROWS = TEAMS * HEIGHT, X_ALONG_K = 1 };
#define Y_PLACE(k, t) ((t) * (DEPTH + 4) + (k))  // columns 4 banks apart: so there are no bank conflicts
#include "gemm/skinny/skinny.h"

// A work-item reads X from here. Rows beyond the last are never written: the last is read in their place.
FUNCTION void
begin_x(const __global float** from, const __global float* x_member, const Share s, const int team) {
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i) {
    from[i] = x_member + LEAST(s.first_row + i * TEAMS + team, s.length - 1) * s.ldx;
  }
}

// Multiplies VX values of k, from k on, into the sums.
FUNCTION void
add_vectors(float sum[HEIGHT][SKINNY], const __global float** from, const LOCAL_PTR float* shared,
            const int k) {
  float x[HEIGHT][VX];
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i) {
    VSTORE(VX)(*(const __global FLOAT(VX)*)(from[i] + k), 0, x[i]);
  }
#pragma unroll
  for (int t = 0; t < SKINNY; ++t) {
    float y[VX];
    VSTORE(VX)(*(const LOCAL_PTR FLOAT(VX)*)(shared + Y_PLACE(k, t)), 0, y);
#pragma unroll
    for (int v = 0; v < VX; ++v) {
#pragma unroll
      for (int i = 0; i < HEIGHT; ++i) {
        sum[i][t] = fma(x[i][v], y[v], sum[i][t]);
      }
    }
  }
}

// The same for a single k.
FUNCTION void
add_values(float sum[HEIGHT][SKINNY], const __global float** from, const LOCAL_PTR float* shared,
           const int k) {
  float x[HEIGHT];
#pragma unroll
  for (int i = 0; i < HEIGHT; ++i) {
    x[i] = from[i][k];
  }
#pragma unroll
  for (int t = 0; t < SKINNY; ++t) {
    const float y = shared[Y_PLACE(k, t)];
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i) {
      sum[i][t] = fma(x[i], y, sum[i][t]);
    }
  }
}

// Adds the products of DEPTH rows of Y, of which `left` are there.
FUNCTION void
multiply_rows(float sum[HEIGHT][SKINNY], const LOCAL_PTR float* shared, const __global float** from,
              const int left, const int lane) {
  if (left >= DEPTH) {
#pragma unroll 4
    for (int k = lane * VX; k < DEPTH; k += LANES * VX) {
      add_vectors(sum, from, shared, k);
    }
  } else {
    const int whole = left / VX * VX;
#pragma unroll 4
    for (int k = lane * VX; k < whole; k += LANES * VX) {
      add_vectors(sum, from, shared, k);
    }
    for (int k = whole + lane; k < left; k += LANES) {
      add_values(sum, from, shared, k);
    }
  }
}

// Adds up the lanes' sums, one row of C at a time.
FUNCTION void
finish_sums(const Result r, const Share s, LOCAL_PTR float* totals, LOCAL_PTR float* shared,
            float sum[HEIGHT][SKINNY], const int lane, const int team, const int tid) {
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
    for (int t = lane; t < s.width; t += LANES) {
      finish(r, s, totals, i * TEAMS + team, t, shared[t * WORK_ITEMS + team * LANES]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
skinny_dots(ARGUMENTS(GemmArguments), const __global float* A, const __global long* a_table,
            const __global float* B, const __global long* b_table, const __global float* C,
            const __global long* c_table, __global float* D, const __global long* d_table) {
  TAKE_ARGUMENTS(GemmArguments);
  const int tid = get_local_id(0);
  const int lane = tid % LANES;
  const int team = tid / LANES;
  Share s;
  find_share(&s, &p);

  // Rows of Y first, then sums.
  __local float shared[SKINNY * (DEPTH + 4 > WORK_ITEMS ? DEPTH + 4 : WORK_ITEMS)]
      __attribute__((aligned(16)));
  __local float totals[TOTALS];

  for (long member = get_group_id(1); member < p.batch; member += get_num_groups(1)) {
    const __global float* x_member;
    const __global float* y;
    Result r;
    find_operands(&x_member, &y, &p, s, A, a_table, B, b_table, member);
    find_result(&r, &p, C, c_table, D, d_table, member);

    const __global float* from[HEIGHT];
    begin_x(from, x_member, s, team);
    float sum[HEIGHT][SKINNY];
#pragma unroll
    for (int i = 0; i < HEIGHT; ++i) {
#pragma unroll
      for (int t = 0; t < SKINNY; ++t) {
        sum[i][t] = 0.0f;
      }
    }

    for (int left = s.depth; left > 0; left -= DEPTH) {
      stage_y(shared, y, s, left, tid);
      barrier(CLK_LOCAL_MEM_FENCE);
      multiply_rows(sum, shared, from, left, lane);
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (int i = 0; i < HEIGHT; ++i) {
        from[i] += DEPTH;
      }
      y += DEPTH * s.y_next;
    }
    finish_sums(r, s, totals, shared, sum, lane, team, tid);
    finish_cluster(r, s, totals, tid);
  }
}
