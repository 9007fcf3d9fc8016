// Copies that transpose through registers: a work-item reads four rows (k) of one or a few columns at once,
// and stores them one by one.

// No tile is copied right into its stage.
FUNCTION void
transposed_copy(const Operand* x, const int stage, const int rows, const int size) {}

// Reads what is there of a tile's rows, and moves on to the next tile.
FUNCTION void
transposed_load(Operand* x, const int rows, const int size) {
  if (TRANSPOSED_COPIERS(size) >= WORK_ITEMS || x->item < TRANSPOSED_COPIERS(size)) {
#pragma unroll
    for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
#pragma unroll
      for (int row = 0; row < TSK; row += TRANSPOSED_ROWS(size)) {
        float* values = x->values + (i * TSK + row) / TRANSPOSED_ROWS(size) * 4;
        const __global float* from = FURTHER(x->from[i], x->next + row * UNIT);
        if (V == 4 && rows >= TSK) {
          vstore4(*(const __global float4*)from, 0, values);
        } else {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            values[k] = rows >= TSK || row + transposed_row(x->item, size) + k < rows ? from[k] : x->beyond;
          }
        }
      }
    }
  }
  x->next += TSK * UNIT;
}

FUNCTION void
transposed_store(const Operand* x, const int stage, const int size) {
  if (TRANSPOSED_COPIERS(size) < WORK_ITEMS && x->item >= TRANSPOSED_COPIERS(size)) {
    return;
  }
  // The four rows of one work-item have the same swizzle.
  const int first = transposed_row(x->item, size);
  const int swizzle = SWIZZLE(first, size);
#pragma unroll
  for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
    LOCAL_PTR float* to = x->to + stage + (first * size + (transposed_column(x->item, i, size) ^ swizzle));
#pragma unroll
    for (int row = 0; row < TSK; row += TRANSPOSED_ROWS(size)) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        to[(row + k) * size] = x->values[(i * TSK + row) / TRANSPOSED_ROWS(size) * 4 + k];
      }
    }
  }
}
