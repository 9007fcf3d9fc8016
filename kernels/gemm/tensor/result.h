// A work-item's sums: those of a tile's splits are added up, and D gets them. The kernel says
// how many sums a work-item has (SUMS), how many pairs of them are in a column of the tile (PAIRS), from
// where on (first_row, first_col), how many work-items have them (WRITERS), and where these wait for each
// other (writers_barrier()).

// Adds up a tile's splits, in order, in the work-group that is the last to write its own. Whether this is the
// one.
FUNCTION bool
add_splits(float* sums, __global float* workspace, const struct Tile* tile, const struct Work* work,
           LOCAL_PTR int* arrived, const int item) {
  __global float* first = workspace + counters_length(work->count / work->splits) +
                          tile->number * work->splits * (TSM * TSN) + 4 * item;
  __global float* own = first + (long)tile->split * (TSM * TSN);
#pragma unroll
  for (int q = 0; q < SUMS / 4; ++q) {
    *(__global float4*)(own + q * (4 * WRITERS)) = vload4(q, sums);
  }
  DEVICE_FENCE();
  writers_barrier();
  if (item == 0) {
    *arrived = ATOMIC_INCREMENT((__global int*)workspace + tile->number);
  }
  writers_barrier();
  if (*arrived != work->splits - 1) {
    return false;
  }
  DEVICE_FENCE();
#pragma unroll
  for (int q = 0; q < SUMS / 4; ++q) {
    vstore4(*(const __global float4*)(first + q * (4 * WRITERS)), q, sums);
  }
#pragma unroll 1
  for (int split = 1; split < work->splits; ++split) {
    const __global float* from = first + (long)split * (TSM * TSN);
#pragma unroll
    for (int q = 0; q < SUMS / 4; ++q) {
      vstore4(vload4(q, sums) + *(const __global float4*)(from + q * (4 * WRITERS)), q, sums);
    }
  }
  return true;
}

// A tile of D and of C: where they are, and what D becomes.
struct TileResult {
  __global float* d;
  long ldd;
  const __global float* c;
  long ldc;
  float alpha, beta;
  bool reads;  // C, or else that is taken for -0, and beta for 1
  int rows, cols;
  bool in_pairs;    // can be read and written so
  bool leaves_nan;  // a sum that is NaN is not written
};
FUNCTION struct TileResult
result_of(const TensorArguments* p, const __global float* C, const __global long* c_table, __global float* D,
          const __global long* d_table, const struct Tile* tile, const __global GroupTile* groups) {
  const long row = (long)tile->m * TSM;
  long col = (long)tile->n * TSN;
  long end = p->N;
  if (groups != 0) {
    const __global GroupTile* panel = groups + col / PANEL;
    col = panel->first + col % PANEL;
    end = panel->end;
  }
  struct TileResult result;
  result.d = MEMBER(D, p->d, d_table, tile->member) + col * p->d.ld + row;
  result.ldd = p->d.ld;
  result.c = MEMBER(C, p->c, c_table, tile->member) + col * p->c.ld + row;
  result.ldc = p->c.ld;
  result.alpha = p->alpha;
  result.reads = p->beta != 0.0f;
  result.beta = result.reads ? p->beta : 1.0f;
  result.rows = (int)LEAST(p->M - row, TSM);
  result.cols = (int)LEAST(end - col, TSN);
  result.in_pairs = p->pairs != 0 && (ulong)result.c % 8 == 0;
  result.leaves_nan = p->by_rows != 0;
  return result;
}

// A work-item has every eighth column of the tile from first_col on, as many as it has sums for, and in each
// of them PAIRS pairs of neighbours, eight rows apart from first_row on. The sums of two columns come
// together, a pair of each in turn.
enum { COLUMNS = SUMS / 2 / PAIRS };
FUNCTION int
pair_of_sums(const int column, const int pair) {
  return (column / 2 * PAIRS + pair) * 4 + column % 2 * 2;
}

// Gives sums the scales of their rows of A and of B, where rows have some: `a` and `b` are the operands, of
// that many terms. An element that is left to fixup.cl becomes NaN.
FUNCTION void
scale_sums(float* sums, const TensorArguments* p, const __global uint* a, const int a_terms,
           const __global uint* b, const int b_terms, const struct Tile* tile, const int blocks,
           const int item) {
  const __global float* a_scales =
      row_scales_of(a, &p->a, tile->member, blocks, a_terms) + (long)tile->m * TSM + first_row(item);
  const __global float* b_scales =
      row_scales_of(b, &p->b, tile->member, blocks, b_terms) + (long)tile->n * TSN + first_col(item);
  float of_columns[COLUMNS];
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    of_columns[i] = b_scales[i * 8];
  }
#pragma unroll
  for (int pair = 0; pair < PAIRS; ++pair) {
    const float first = a_scales[pair * 8];
    const float second = a_scales[pair * 8 + 1];
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
      float* two = sums + pair_of_sums(i, pair);
      two[0] *= first * of_columns[i];
      two[1] *= second * of_columns[i];
    }
  }
}

// A work-item's part of one column: where it begins, and how many rows there are from there on, to write and
// to read.
struct Column {
  __global float* d;
  const __global float* c;
  int rows;
  int rows_to_read;
};
FUNCTION struct Column
result_column(const struct TileResult* tile, const int column, const int item) {
  const int row = first_row(item);
  const int col = first_col(item) + column * 8;
  struct Column result;
  result.d = tile->d + col * tile->ldd + row;
  result.c = tile->c + col * tile->ldc + row;
  result.rows = col < tile->cols ? tile->rows - row : 0;
  result.rows_to_read = tile->reads ? result.rows : 0;
  OPAQUE(result.rows_to_read);  // or else compilers make the rest once for each kind of beta
  return result;
}

// The same bits as by UPDATE: to add -0 changes nothing. One way for every beta keeps the code short. That
// matters: a call runs three kernels in turn, and where their code took more than 128 KiB in all, one of
// 2048 x 2048 x 2048 took an H200 10 us longer through OpenCL.
FUNCTION void
write_one(const struct TileResult* c, const struct Column* column, const int row, const float sum) {
  const float before = row < column->rows_to_read ? column->c[row] : -0.0f;
  if (row < column->rows && !(c->leaves_nan && sum != sum)) {
    column->d[row] = fma(c->alpha, sum, c->beta * before);
  }
}
FUNCTION void
write_two(const struct TileResult* c, const struct Column* column, const int row, const float* sums) {
  const float2 before =
      row < column->rows_to_read ? *(const __global float2*)(column->c + row) : (float2)(-0.0f);
  if (row < column->rows) {
    float two[2];
    vstore2(fma((float2)(c->alpha), vload2(0, sums), (float2)(c->beta) * before), 0, two);
    if (c->leaves_nan) {  // nobody else has the element in this kernel
      two[0] = sums[0] != sums[0] ? column->d[row] : two[0];
      two[1] = sums[1] != sums[1] ? column->d[row + 1] : two[1];
    }
    *(__global float2*)(column->d + row) = vload2(0, two);
  }
}

FUNCTION void
write_pair(const struct TileResult* c, const struct Column* column, const int pair, const float* sums,
           const bool in_pairs) {
  if (in_pairs) {
    write_two(c, column, pair * 8, sums);
  } else {
    write_one(c, column, pair * 8, sums[0]);
    write_one(c, column, pair * 8 + 1, sums[1]);
  }
}

FUNCTION void
write_sums(const struct TileResult* c, const float* sums, const int item, const bool in_pairs) {
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    const struct Column column = result_column(c, i, item);
#pragma unroll
    for (int pair = 0; pair < PAIRS; ++pair) {
      write_pair(c, &column, pair, sums + pair_of_sums(i, pair), in_pairs);
    }
  }
}

// Constants, so that compilers leave nothing to ask for every pair.
FUNCTION void
write_tile(const struct TileResult* c, const float* sums, const int item) {
  if (c->in_pairs) {
    write_sums(c, sums, item, true);
  } else {
    write_sums(c, sums, item, false);
  }
}
