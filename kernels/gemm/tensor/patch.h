// What the tensor kernel has left out (see pieces.h) is computed in FP32 by the pipelined kernel with PATCH:
// it has the same operands, the scales of their pieces, and skips every tile of which the tensor kernel has
// written all.

#define PANEL 128  // see pieces.h

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
