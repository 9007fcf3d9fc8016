// Panels of an operand: blocks of neighbouring lines (rows of op(A) or columns of op(B)), copied to local
// memory so that what is needed for one k stands side by side, and for the next k right behind it.
//
// An operand is stored in one of two ways:
//
//   direct  neighbouring lines stand side by side; from one k to the next it is `ld`
//   transposed    neighbouring k stand side by side; from one line to the next it is `ld`
//
// A panel has as many lines as the multiplication wants. Those beyond the edge are copies of the last line
// that there is: what comes of them is not stored.

#include "gemm/cpu/cpu_transpose.h"

// Copies a direct panel of `lines` lines, a multiple of `width`, of which `present` are there.
#define DEFINE_PACK_DIRECT(name, width)                                                             \
  FUNCTION void name(LOCAL_PTR float* to, const __global float* from, const long ld, const int lines, \
                     const int present, const int depth) {                                            \
    for (int k = 0; k < depth; ++k) {                                                                 \
      for (int line = 0; line < lines; line += width) {                                               \
        if (line + width <= present) {                                                                \
          VSTORE(width)(VLOAD(width)(0, from + line), 0, to + line);                                  \
        } else {                                                                                      \
          for (int i = line; i < line + width; ++i) {                                                 \
            to[i] = from[LEAST(i, present - 1)];                                                      \
          }                                                                                           \
        }                                                                                             \
      }                                                                                               \
      from += ld;                                                                                     \
      to += lines;                                                                                    \
    }                                                                                                 \
  }

// Copies a transposed panel.
FUNCTION void
pack_transposed(LOCAL_PTR float* to, const __global float* from, const long ld, const int lines,
            const int present, const int depth) {
  int line = 0;
  for (; line + 4 <= lines; line += 4) {
    const __global float* line0 = from + LEAST(line, present - 1) * ld;
    const __global float* line1 = from + LEAST(line + 1, present - 1) * ld;
    const __global float* line2 = from + LEAST(line + 2, present - 1) * ld;
    const __global float* line3 = from + LEAST(line + 3, present - 1) * ld;
    int k = 0;
    for (; k + 4 <= depth; k += 4) {
      float4 k0, k1, k2, k3;
      TRANSPOSE_4X4(k0, k1, k2, k3, vload4(0, line0 + k), vload4(0, line1 + k), vload4(0, line2 + k),
           vload4(0, line3 + k));
      LOCAL_PTR float* rows = to + k * lines + line;
      vstore4(k0, 0, rows);
      vstore4(k1, 0, rows + lines);
      vstore4(k2, 0, rows + 2 * lines);
      vstore4(k3, 0, rows + 3 * lines);
    }
    for (; k < depth; ++k) {
      LOCAL_PTR float* row = to + k * lines + line;
      row[0] = line0[k], row[1] = line1[k], row[2] = line2[k], row[3] = line3[k];
    }
  }
  for (; line < lines; ++line) {
    const __global float* from_line = from + LEAST(line, present - 1) * ld;
    for (int k = 0; k < depth; ++k) {
      to[k * lines + line] = from_line[k];
    }
  }
}
