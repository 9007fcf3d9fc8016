// What becomes of a work-item's sums: those of a tile's slices are added up, and C gets them. The kernel says
// how many sums a work-item has (SUMS), how many work-items have them (WRITERS), and where these wait for
// each other (WRITERS_BARRIER()).

// Adds up a tile's slices, in order, in the work-group that is the last to write its own. Whether this is the
// one.
FUNCTION bool add_slices(float* sums, __global float* workspace, const struct Tile* tile,
                         const struct Work* work, LOCAL_PTR int* arrived, const int item) {
  __global float* first =
      workspace + COUNTERS(work->count / work->slices) + tile->number * work->slices * (TSM * TSN) + 4 * item;
  __global float* own = first + (long)tile->slice * (TSM * TSN);
#pragma unroll
  for (int q = 0; q < SUMS / 4; ++q) {
    *(__global float4*)(own + q * (4 * WRITERS)) = vload4(q, sums);
  }
  DEVICE_FENCE();
  WRITERS_BARRIER();
  if (item == 0) {
    *arrived = ATOMIC_INCREMENT((__global int*)workspace + tile->number);
  }
  WRITERS_BARRIER();
  if (*arrived != work->slices - 1) {
    return false;
  }
  DEVICE_FENCE();
#pragma unroll
  for (int q = 0; q < SUMS / 4; ++q) {
    vstore4(*(const __global float4*)(first + q * (4 * WRITERS)), q, sums);
  }
#pragma unroll 1
  for (int slice = 1; slice < work->slices; ++slice) {
    const __global float* from = first + (long)slice * (TSM * TSN);
#pragma unroll
    for (int q = 0; q < SUMS / 4; ++q) {
      vstore4(vload4(q, sums) + *(const __global float4*)(from + q * (4 * WRITERS)), q, sums);
    }
  }
  return true;
}

// A tile of C: where it is, and what it becomes.
struct Result {
  __global float* first;
  long ld;
  float alpha, beta;
  int rows, cols;
  bool pairs;  // can be written in pairs
};
FUNCTION struct Result result_of(const struct PRODUCT_OF_PIECES_NUMBERS* p, __global float* C,
                                 const __global long* c_table, const struct Tile* tile) {
  struct Result c;
  c.first = MEMBER(C, p->c_offset, p->c_stride, c_table, tile->member) + (long)tile->n * TSN * p->ldc +
            (long)tile->m * TSM;
  c.ld = p->ldc;
  c.alpha = p->alpha;
  c.beta = p->beta;
  c.rows = (int)LEAST(p->M - (long)tile->m * TSM, TSM);
  c.cols = (int)LEAST(p->N - (long)tile->n * TSN, TSN);
  c.pairs = p->c_pairs != 0;
  return c;
}

// The i-th pair of sums: two neighbours in a column of the tile.
FUNCTION void write_pair(const struct Result* c, const int row, const int col, const float* sums,
                         const int i) {
  __global float* to = c->first + col * c->ld + row;
  if (col < c->cols && c->pairs && row < c->rows) {
    UPDATE(float2, *(__global float2*)to, c->alpha, vload2(i, sums), c->beta);
  } else if (col < c->cols && row < c->rows) {
    UPDATE(float, to[0], c->alpha, sums[2 * i], c->beta);
    if (row + 1 < c->rows) {
      UPDATE(float, to[1], c->alpha, sums[2 * i + 1], c->beta);
    }
  }
}
