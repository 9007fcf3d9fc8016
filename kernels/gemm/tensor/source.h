// The values of A or B that are to become terms: those of a panel.

struct Source {
  const __global float* matrix;
  int type;    // of its elements
  long first;  // of the panel
  long row_step;
  long k_step;
  int rows;   // that are there, from the first on
  int depth;  // the same along k
  bool none;  // of a panel without rows
};

// A panel of a member of X, which begins at X's element `first`: with all k. The panels of a grouped
// product's B are tiles of groups.
FUNCTION void
find_panel(struct Source* source, const __global float* x, const long first, const SplitOperand* operand,
           const long depth, const int panel, const __global GroupTile* groups) {
  const bool along_k = operand->along_k != 0;
  const long row = groups == 0 ? (long)panel * PANEL : groups[panel].first;
  const long end = groups == 0 ? operand->rows : groups[panel].end;
  source->matrix = x;
  source->type = (int)operand->type;
  source->row_step = along_k ? operand->x.ld : 1;
  source->k_step = along_k ? 1 : operand->x.ld;
  source->first = first + row * source->row_step;
  source->rows = (int)LEAST(end - row, PANEL);  // none where it is negative
  source->none = groups != 0 && source->rows <= 0;
  source->depth = (int)depth;
}
