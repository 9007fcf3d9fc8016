// What the kernels for skinny results share.
//
// C has at most SKINNY columns (SIDE 0) or rows (SIDE 1). The other side is the long one: X, which is A or
// the transpose of B, has `length` rows of K values, and Y has K rows of `width` values. C[row][t] is the sum
// over k of X[row][k] Y[k][t].
//
// Y comes through local memory, DEPTH rows at a time: Y_PLACE says where a value is, `depth` how many rows
// are left, and neighbouring work-items read what stands beside in memory.

#include "gemm/cluster.h"
#include "gemm/least.h"

#if SIDE == 0
#define OF_X(a, b) (a)
#define OF_Y(a, b) (b)
#else
#define OF_X(a, b) (b)
#define OF_Y(a, b) (a)
#endif

FUNCTION void
stage_thin(LOCAL_PTR float* values, const __global float* y, const long ldy, const int depth, const int width,
           const int tid) {
#pragma unroll 8
  for (int i = tid; i < DEPTH * SKINNY; i += WORK_ITEMS) {
    const int k = Y_ALONG_K ? i % DEPTH : i / SKINNY;
    const int t = Y_ALONG_K ? i / DEPTH : i % SKINNY;
    const bool there = k < depth && t < width;
    values[Y_PLACE(k, t)] = there ? y[Y_ALONG_K ? t * ldy + k : k * ldy + t] : 0.0f;
  }
}

// What becomes of the sum for a row of the work-group and a column t. In a cluster, it is one of the part's
// `totals` until all are there.
#if CLUSTERS
#define TOTALS() __local float totals[ROWS * SKINNY]
#define FINISH(row_of_group, t, sum)           \
  do {                                         \
    if (p.cluster > 1) {                       \
      totals[(t)*ROWS + (row_of_group)] = sum; \
    } else {                                   \
      WRITE(row_of_group, t, sum);             \
    }                                          \
  } while (0)
#define TOTAL_PLACE(q) (totals + (q)*WORK_ITEMS + tid)
#define WRITE_TOTAL(q, total) WRITE(((q)*WORK_ITEMS + tid) % ROWS, ((q)*WORK_ITEMS + tid) / ROWS, total)
#define FINISH_CLUSTER()                                                   \
  do {                                                                     \
    if (p.cluster > 1) {                                                   \
      const int count = (ROWS * SKINNY - tid + WORK_ITEMS - 1) / WORK_ITEMS; \
      CLUSTER_BARRIER();                                                   \
      ADD_IN_CLUSTER(1, count, (int)p.cluster, TOTAL_PLACE, WRITE_TOTAL);  \
      CLUSTER_BARRIER_RELAXED();                                           \
    }                                                                      \
  } while (0)
#else
#define TOTALS()
#define FINISH(row_of_group, t, sum) WRITE(row_of_group, t, sum)
#define FINISH_CLUSTER()
#endif
#define WRITE(row_of_group, t, sum)                                                              \
  do {                                                                                           \
    const long row = first_row + (row_of_group);                                                 \
    if (row < length && (t) < width) {                                                           \
      UPDATE(float, c_member[SIDE ? row * p.ldc + (t) : (t)*p.ldc + row], p.alpha, sum, p.beta); \
    }                                                                                            \
  } while (0)
