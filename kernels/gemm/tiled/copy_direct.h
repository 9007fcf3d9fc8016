// Direct copies: a work-item copies vectors of one or a few columns, down the rows.
//
//        size ->
//   k  |  0   1   2   3  ...  abreast - 1 |  0   1 ...     <- the same work-items' next vectors
//   |  |  abreast  ...                    |
//   v  :  DIRECT_ROWS at once

FUNCTION int
direct_row(const int item, const int size) {
  return item / DIRECT_ABREAST(size);
}

FUNCTION void
direct_begin(Operand* x, const __global float* matrix, const Span span, LOCAL_PTR float* tile,
             const int size) {
  const int row = direct_row(x->item, size);
  const int column = x->item % DIRECT_ABREAST(size) * V;
  x->to = tile + (row * size + column);
#pragma unroll
  for (int i = 0; i < DIRECT_PLACES(size); ++i) {
    x->from[i] = matrix + row * x->ld + existing_column(span, column + i * DIRECT_ABREAST(size) * V, V);
  }
}

// Begins to copy the `rows` rows of a tile that are there, and moves on to the next.
FUNCTION void
direct_copy(Operand* x, const int stage, const int rows, const int size) {
  if (DIRECT_COPIERS(size) >= WORK_ITEMS || x->item < DIRECT_COPIERS(size)) {
    LOCAL_PTR float* to = x->to + stage;
#pragma unroll
    for (int row = 0; row < TSK; row += DIRECT_ROWS(size)) {
#pragma unroll
      for (int i = 0; i < DIRECT_PLACES(size); ++i) {
        copy_values(V, to + (row * size + i * DIRECT_ABREAST(size) * V),
                    FURTHER(x->from[i], x->next + row * x->ld * UNIT), row + direct_row(x->item, size), rows,
                    x->beyond);
      }
    }
  }
  x->next += TSK * x->ld * UNIT;
}
