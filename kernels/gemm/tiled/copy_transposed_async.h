// Copies that transpose on the way: LANES_K neighbouring work-items copy as many rows (k) of a column, each
// to its row of the tile.

// The swizzled column of a work-item's i-th place; by an addition where that is the same.
FUNCTION int
transposed_place(const int item, const int i, const int size) {
  const int swizzle = SWIZZLE(transposed_row(item, size), size);
  return TRANSPOSED_ABREAST(size) % 32 == 0
             ? i * TRANSPOSED_ABREAST(size) + (transposed_column(item, 0, size) ^ swizzle)
             : transposed_column(item, i, size) ^ swizzle;
}

// Begins to copy the `rows` rows of a tile that are there, and moves on to the next.
FUNCTION void
transposed_copy(Operand* x, const int stage, const int rows, const int size) {
  if (TRANSPOSED_COPIERS(size) >= WORK_ITEMS || x->item < TRANSPOSED_COPIERS(size)) {
    const int first = transposed_row(x->item, size);
#pragma unroll
    for (int i = 0; i < TRANSPOSED_PLACES(size); ++i) {
      LOCAL_PTR float* to = x->to + stage + first * size + transposed_place(x->item, i, size);
#pragma unroll
      for (int row = 0; row < TSK; row += TRANSPOSED_ROWS(size)) {
        copy_values(1, to + row * size, FURTHER(x->from[i], x->next + row * UNIT), row + first, rows,
                    x->beyond);
      }
    }
  }
  x->next += TSK * UNIT;
}

// Nothing goes through registers.
FUNCTION void
transposed_load(const Operand* x, const int rows, const int size) {}
FUNCTION void
transposed_store(const Operand* x, const int stage, const int size) {}
