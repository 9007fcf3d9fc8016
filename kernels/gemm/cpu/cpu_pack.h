// Panels of op(A): blocks of neighbouring rows, which may be copied to local memory so that what is needed
// for one k stands side by side, and for the next k right after it.
//
// A is stored in one of two ways:
//
//   direct      neighbouring rows stand side by side; from one k to the next it is `ld`
//   transposed  neighbouring k stand side by side; from one row to the next it is `ld`
//
// A panel has whole vectors of rows. Those beyond the edge are zeros, or copies of the last row that there
// is: what comes of them is not stored.

// The vectors of a panel, when all are divided as evenly as can be. The first panels have one more.
FUNCTION int
vectors_of_panel(const int panel, const int panels, const int vectors) {
  return vectors / panels + (panel < vectors % panels ? 1 : 0);
}

// Copies `rows` rows of a direct A to `panels` panels. They follow each other within a column, because what
// the columns have is far apart: it is asked for some columns ahead.
FUNCTION void
pack_direct(LOCAL_PTR float* to, const __global float* from, const long ld, const int panels, const int rows,
            const int depth) {
  const int vectors = CEIL_DIV(rows, WIDTH);
  for (int k = 0; k < depth; ++k) {
    for (int row = 0; row < rows; row += LINE) {
      prefetch(from + AHEAD * ld + row, 1);
    }
    for (int panel = 0, row = 0; panel < panels; ++panel) {
      const int count = vectors_of_panel(panel, panels, vectors);
      LOCAL_PTR float* packed = to + row * depth + k * count * WIDTH;
      for (int v = 0; v < count; ++v) {
        if (row + WIDTH <= rows) {
          VSTORE(WIDTH)(VLOAD(WIDTH)(0, from + row), 0, packed);
        } else {
          VSTORE(WIDTH)(LOAD_ROWS(WIDTH)(from + row, rows - row), 0, packed);
        }
        packed += WIDTH;
        row += WIDTH;
      }
    }
    from += ld;
  }
}

// Copies a panel of `rows` rows of a transposed A, a multiple of WIDTH, of which `present` are there.
FUNCTION void
pack_transposed(LOCAL_PTR float* to, const __global float* from, const long ld, const int rows,
                const int present, const int depth) {
  for (int row = 0; row < rows; row += 4) {
    const __global float* row0 = from + LEAST(row, present - 1) * ld;
    const __global float* row1 = from + LEAST(row + 1, present - 1) * ld;
    const __global float* row2 = from + LEAST(row + 2, present - 1) * ld;
    const __global float* row3 = from + LEAST(row + 3, present - 1) * ld;
    int k = 0;
    for (; k + 4 <= depth; k += 4) {
      float4 k0, k1, k2, k3;
      TRANSPOSE_4X4(k0, k1, k2, k3, vload4(0, row0 + k), vload4(0, row1 + k), vload4(0, row2 + k),
                    vload4(0, row3 + k));
      LOCAL_PTR float* packed = to + k * rows + row;
      vstore4(k0, 0, packed);
      vstore4(k1, 0, packed + rows);
      vstore4(k2, 0, packed + 2 * rows);
      vstore4(k3, 0, packed + 3 * rows);
    }
    for (; k < depth; ++k) {
      LOCAL_PTR float* packed = to + k * rows + row;
      packed[0] = row0[k], packed[1] = row1[k], packed[2] = row2[k], packed[3] = row3[k];
    }
  }
}

FUNCTION void
pack_a(LOCAL_PTR float* to, const __global float* from, const long ld, const int panels, const int rows,
       const int depth) {
  if (!TRANS_A) {
    pack_direct(to, from, ld, panels, rows, depth);
    return;
  }
  const int vectors = CEIL_DIV(rows, WIDTH);
  for (int panel = 0, row = 0; panel < panels; ++panel) {
    const int count = vectors_of_panel(panel, panels, vectors);
    pack_transposed(to + row * depth, from + row * ld, ld, count * WIDTH, rows - row, depth);
    row += count * WIDTH;
  }
}
