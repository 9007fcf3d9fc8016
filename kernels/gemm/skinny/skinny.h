// The kernels for skinny results share this.
//
// C and D have at most SKINNY columns (SIDE 0) or rows (SIDE 1). The other side is the long one: X, which is
// A or the transpose of B, has `length` rows of K values, and Y has K rows of `width` values. D[row][t] takes
// the sum over k of X[row][k] Y[k][t].
//
//            k ->                              t ->
//   row  +-----------+               k  +---+          row  +---+
//    |   |  ROWS of  |                  | Y | DEPTH rows    | C |
//    v   |    X      |               |  |   | at a time     |   |
//        |           |  registers    v  |   | in local      |   |
//        +-----------+                  +---+ memory        +---+
//
// Y_PLACE says where a value of Y is in local memory. X is read once, and so right into registers.
//
// K may be split further: work-groups numbered g in the third dimension take k from g * split_length on, and
// write g * split_stride after D; or those of a cluster add up what they have, and each writes a share of it.
// Those in the second dimension walk over the batch.
//
// op(A) is M x K, op(B) is K x N, C and D are M x N, all column-major. Offsets, strides and leading
// dimensions in elements. K is below 2^30.

#include "gemm/cluster.h"
#include "gemm/result.h"

#define OF_X(a, b) (SIDE == 0 ? (a) : (b))
#define OF_Y(a, b) (SIDE == 0 ? (b) : (a))

// The share of a work-group.
typedef struct {
  long length;
  int width;
  long first_row;
  long first_k;
  int depth;    // how many k
  long x_next;  // from one k of X to the next
  long y_next;
  long ldx;
  long ldy;
  int cluster;  // work-groups that add up their splits
} Share;

FUNCTION void
find_share(Share* s, const GemmArguments* p) {
  s->length = OF_X(p->M, p->N);
  s->width = (int)OF_Y(p->M, p->N);
  s->first_row = (long)get_group_id(0) * ROWS;
  s->first_k = (long)get_group_id(2) * p->split_length;
  s->depth = (int)min(p->split_length, p->K - s->first_k);
  s->ldx = OF_X(p->a.ld, p->b.ld);
  s->ldy = OF_Y(p->a.ld, p->b.ld);
  s->cluster = (int)p->cluster;
  s->x_next = X_ALONG_K ? 1 : s->ldx;
  s->y_next = Y_ALONG_K ? 1 : s->ldy;
}

// --- The skinny operand ------------------------------------------------------------------------------------

// Brings DEPTH rows of Y to local memory, of which `left` are there. Neighbouring work-items read what stands
// side by side in memory.
FUNCTION void
stage_y(LOCAL_PTR float* values, const __global float* y, const Share s, const int left, const int tid) {
#pragma unroll 8
  for (int i = tid; i < DEPTH * SKINNY; i += WORK_ITEMS) {
    const int k = Y_ALONG_K ? i % DEPTH : i / SKINNY;
    const int t = Y_ALONG_K ? i / DEPTH : i % SKINNY;
    const bool is_there = k < left && t < s.width;
    values[Y_PLACE(k, t)] = is_there ? y[Y_ALONG_K ? t * s.ldy + k : k * s.ldy + t] : 0.0f;
  }
}

// --- The result --------------------------------------------------------------------------------------------

// The operands of a member of the batch, from where a work-group reads them.
FUNCTION void
find_operands(const __global float** x, const __global float** y, const GemmArguments* p, const Share s,
              const __global float* A, const __global long* a_table, const __global float* B,
              const __global long* b_table, const long member) {
  const __global float* a_member = MEMBER(A, p->a, a_table, member);
  const __global float* b_member = MEMBER(B, p->b, b_table, member);
  *x = OF_X(a_member, b_member) + s.first_k * s.x_next;
  *y = OF_Y(a_member, b_member) + s.first_k * s.y_next;
}

FUNCTION void
write_sum(const Result r, const Share s, const int row_of_group, const int t, const float sum) {
  const long row = s.first_row + row_of_group;
  if (row < s.length && t < s.width) {
    UPDATE_FROM(float, r.d[SIDE ? row * r.ldd + t : t * r.ldd + row], r.alpha, sum, r.beta,
                r.c[SIDE ? row * r.ldc + t : t * r.ldc + row]);
  }
}

// Writes the sum for a row of the work-group and a column t. In a cluster, it is one of the split's
// `totals` until all are there.
enum { TOTALS = CLUSTERS ? ROWS * SKINNY : 1 };
FUNCTION void
finish(const Result r, const Share s, LOCAL_PTR float* totals, const int row_of_group, const int t,
       const float sum) {
  if (CLUSTERS && s.cluster > 1) {
    totals[t * ROWS + row_of_group] = sum;
  } else {
    write_sum(r, s, row_of_group, t, sum);
  }
}

#define TOTAL_PLACE(q) (totals + (q)*WORK_ITEMS + tid)
#define WRITE_TOTAL(q, total) \
  write_sum(r, s, ((q)*WORK_ITEMS + tid) % ROWS, ((q)*WORK_ITEMS + tid) / ROWS, total)
FUNCTION void
finish_cluster(const Result r, const Share s, LOCAL_PTR float* totals, const int tid) {
#if CLUSTERS
  if (s.cluster > 1) {
    const int count = (ROWS * SKINNY - tid + WORK_ITEMS - 1) / WORK_ITEMS;
    CLUSTER_BARRIER();
    ADD_IN_CLUSTER(1, count, s.cluster, TOTAL_PLACE, WRITE_TOTAL);
    CLUSTER_BARRIER_RELAXED();
  }
#endif
}
