// Rungs 13 to 15 share this, besides warp tiles: the loop over tiles that are copied ahead. Rung 13 draws it.
//
// The file that includes this defines STAGES, and what warp_tile.h wants.

#define STAGE (TSK * (TSM + TSN))  // a tile of A, then one of B

// Adds the products for k from begin to end - 1 to a work-item's sums. The work-group's rows of A begin at
// `a`, its columns of B at `b`.
FUNCTION void multiply_range(float4* acc, LOCAL_PTR float* stages, const __global float* a, const int lda,
                             const __global float* b, const int ldb, const int begin, const int end,
                             const int item) {
  for (int tile = begin - (STAGES - 1) * TSK; tile < end; tile += TSK) {
    const int ahead = tile + (STAGES - 1) * TSK;
    if (tile >= begin) {
      COPY_WAIT(STAGES - 2);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (ahead < end) {
      LOCAL_PTR float* to = stages + ahead / TSK % STAGES * STAGE;
      fetch(to, a + ahead * lda, lda, TSM, item);
      fetch(to + TSK * TSM, b + ahead * ldb, ldb, TSN, item);
    }
    COPY_COMMIT();
    if (tile >= begin) {
      const LOCAL_PTR float* from = stages + tile / TSK % STAGES * STAGE;
      multiply(acc, from, from + TSK * TSM, item);
    }
  }
}
