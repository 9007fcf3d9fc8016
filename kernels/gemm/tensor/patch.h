// What the tensor kernel has left out (see pieces.h) is computed in FP32 by the pipelined kernel with PATCH:
// it has the same operands, the scales of their pieces, and skips every tile of which the tensor kernel has
// written all.

// Notes in local memory whether any of so many scales is NaN.
FUNCTION void note_lacks(LOCAL_PTR int* found, const __global float* scales, const int count,
                         const int item) {
  for (int i = item; i < count; i += WORK_ITEMS) {
    if (scales[i] != scales[i]) {
      *found = 1;
    }
  }
}

// All work-items ask together; `found` is local memory that nobody uses before or after.
FUNCTION bool is_left_out(const __global float* a_scales, const __global float* b_scales, const int a_count,
                          const int b_count, LOCAL_PTR int* found, const int item) {
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    *found = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  note_lacks(found, a_scales, a_count, item);
  note_lacks(found, b_scales, b_count, item);
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool lacks = *found != 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  return lacks;
}

// One chain of multiply-adds over all of k would err by more than the sums of the tensor kernel, and than the
// bound where k is long: a chain ends after so many k, and is added to the sums (promotion).
#define PROMOTED 128

// The sums of a tile over `depth` of k, from where a and b begin.
FUNCTION void multiply_promoted(float sums[WPTN][WPTM], const __global float* a, const __global float* b,
                                const long lda, const long ldb, const Tile tile, LOCAL_PTR float* tiles,
                                const int depth, const Place place) {
  set_to_zero(sums);
#pragma unroll 1
  for (int k = 0; k < depth; k += PROMOTED) {
    barrier(CLK_LOCAL_MEM_FENCE);
    Operand x;
    Operand y;
    begin_copies(&x, a + (long)k * (TRANS_A ? 1 : lda), lda, tile.m, tiles, place.item, -0.0f, TSM, TRANS_A);
    begin_copies(&y, b + (long)k * (TRANS_B ? ldb : 1), ldb, tile.n, tiles + TSK * TSM, place.item, 0.0f, TSN,
                 !TRANS_B);
    float acc[WPTN][WPTM];
    set_to_zero(acc);
    const int rows = min(depth - k, PROMOTED);
    prologue(&x, &y, rows);
    mainloop(acc, tiles, &x, &y, rows, place);
#pragma unroll
    for (int i = 0; i < WPTM * WPTN; ++i) {
      sums[i / WPTM][i % WPTM] += acc[i / WPTM][i % WPTM];
    }
  }
}
