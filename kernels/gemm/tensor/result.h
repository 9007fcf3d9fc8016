// A work-item's sums: those of a tile's splits are added up, and D gets them. The kernel says how many sums a
// work-item has (SUMS), how many work-items have some (WRITERS), where these wait for each other
// (writers_barrier()), and which block of the tile a sub-group has: its rows (8 * PAIRS), and from which row
// and column on (block_row, block_col).
//
// A work-item has every eighth column of its sub-group's block, and in each of them PAIRS pairs of
// neighbours, eight rows apart. The sums of two columns come together, a pair of each in turn.
enum { COLUMNS = SUMS / 2 / PAIRS };
FUNCTION int
pair_of_sums(const int column, const int pair) {
  return (column / 2 * PAIRS + pair) * 4 + column % 2 * 2;
}
FUNCTION int
first_row(const int item) {
  return block_row(item) + item % 4 * 2;
}
FUNCTION int
first_col(const int item) {
  return block_col(item) + item % 32 / 4;
}

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
  bool leaves_nan;  // a sum that is NaN is not written, and nothing in pairs
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
  const ulong addresses = (ulong)result.d | (ulong)result.c;
  const long distances = result.ldd | result.ldc | result.rows;
  result.in_pairs = addresses % 8 == 0 && distances % 2 == 0;
  result.leaves_nan = false;
  return result;
}

// Gives sums the scales of their rows of A and of B, from the tile's first on. An element that is left to
// fixup.cl becomes NaN, and is not written.
FUNCTION void
scale_sums(float* sums, struct TileResult* result, const __global float* a_scales,
           const __global float* b_scales, const int item) {
  const __global float* of_rows = a_scales + first_row(item);
  float of_columns[COLUMNS];
  bool leaves = false;
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    of_columns[i] = b_scales[first_col(item) + i * 8];
    leaves |= of_columns[i] != of_columns[i];
  }
#pragma unroll
  for (int pair = 0; pair < PAIRS; ++pair) {
    const float first = of_rows[pair * 8];
    const float second = of_rows[pair * 8 + 1];
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
      float* two = sums + pair_of_sums(i, pair);
      two[0] *= first * of_columns[i];
      two[1] *= second * of_columns[i];
    }
    leaves |= first != first || second != second;
  }
  result->leaves_nan = ANY_IN_SUB_GROUP(leaves);
  result->in_pairs = result->in_pairs && !result->leaves_nan;
}

// A sub-group's work-items have 32 bytes of each of eight columns, which memory would take in parts. So they
// exchange sums through local memory, and write 32 rows of a column, or of two columns, at once.
enum {
  ROWS_AT_ONCE = 32,
  COLUMNS_AT_ONCE = EXCHANGED / ROWS_AT_ONCE,
  PAIRS_AT_ONCE = ROWS_AT_ONCE / 8,
  EXCHANGE_BYTES = WRITERS / 32 * EXCHANGED * 4
};

// Columns that are written together differ in bits 3 and 4, so that their pairs are in different banks.
FUNCTION int
exchange_position(const int row, const int col) {
  return col * ROWS_AT_ONCE + (row ^ (col % 4 * 8));
}

// Writes PAIRS_AT_ONCE pairs of a work-item's column, from the first-th on, of which the sums are `step`
// apart, and those of the other work-items of its sub-group: each `width` rows at once, 1 or 2. D's values
// have the same bits as by UPDATE: to add -0 changes nothing.
FUNCTION void
write_block(const struct TileResult* tile, const float* sums, const int step, const int column,
            const int first, LOCAL_PTR float* exchange, const int item, const int width) {
  LOCAL_PTR float* own = exchange + item / 32 * EXCHANGED;
  const int lane = item % 32;
  const int lanes = ROWS_AT_ONCE / width;  // for a column
  const int own_row = lane % lanes * width;
  const int row = block_row(item) + first * 8 + own_row;
  const int col = block_col(item) + column * COLUMNS_AT_ONCE + lane / lanes;
  const int cols = row < tile->rows ? tile->cols - col : 0;
  int cols_to_read = tile->reads ? cols : 0;
  OPAQUE(cols_to_read);  // or else compilers make the rest once for each kind of beta
  const __global float* c = tile->c + col * tile->ldc + row;
  float before[COLUMNS_AT_ONCE];
#pragma unroll
  for (int i = 0; i < COLUMNS_AT_ONCE; i += width) {
#pragma unroll
    for (int e = 0; e < width; ++e) {
      before[i + e] = -0.0f;
    }
    if (i < cols_to_read && width == 2) {
      vstore2(*(const __global float2*)c, 0, before + i);
    } else if (i < cols_to_read) {
      before[i] = *c;
    }
    c += width * tile->ldc;
  }
  SUB_GROUP_BARRIER();  // nobody reads the sums before any more
#pragma unroll
  for (int pair = 0; pair < PAIRS_AT_ONCE; ++pair) {
    *(LOCAL_PTR float2*)(own + exchange_position(pair * 8 + lane % 4 * 2, lane / 4)) =
        vload2(0, sums + pair * step);
  }
  SUB_GROUP_BARRIER();
  __global float* d = tile->d + col * tile->ldd + row;
#pragma unroll
  for (int i = 0; i < COLUMNS_AT_ONCE; i += width) {
    const LOCAL_PTR float* from = own + exchange_position(own_row, i + lane / lanes);
    float values[2];
    if (width == 2) {
      vstore2(*(const LOCAL_PTR float2*)from, 0, values);
    } else {
      values[0] = *from;
    }
    const bool writes = i < cols && !(tile->leaves_nan && values[0] != values[0]);
#pragma unroll
    for (int e = 0; e < width; ++e) {
      uint bits = AS_UINT(fma(tile->alpha, values[e], tile->beta * before[i + e]));
      OPAQUE(bits);  // or else compilers load alpha anew where it is written
      values[e] = AS_FLOAT(bits);
    }
    if (writes && width == 2) {
      *(__global float2*)d = vload2(0, values);
    } else if (writes) {
      *d = values[0];
    }
    d += width * tile->ldd;
  }
}

// Writes a turn's pairs, from the first-th on. Of two columns, the sums of some pairs stand side by side.
enum {
  PAIRS_OF_TURN = COLUMNS == 2 ? (int)PAIRS_AT_ONCE : (int)PAIRS,
  SUMS_OF_TURN = SUMS / PAIRS * PAIRS_OF_TURN
};
FUNCTION void
write_turn(const struct TileResult* tile, const float* sums, const int first, LOCAL_PTR float* exchange,
           const int item, const int width) {
#pragma unroll
  for (int column = 0; column < COLUMNS; ++column) {
#pragma unroll
    for (int pair = 0; pair < PAIRS_OF_TURN; pair += PAIRS_AT_ONCE) {
      write_block(tile, sums + pair_of_sums(column, pair), 4, column, first + pair, exchange, item, width);
    }
  }
}

// The code of turns is short. That matters: a call runs three kernels, one after the other, whose code does
// not stay in an instruction cache. With 60 instead of 82 KiB for this kernel, 2048 x 2048 x 2048 takes an
// H200 4 percent less.
//
// `one` is 1, which compilers do not know where there are several turns. They would keep sums that move from
// turn to turn in registers that suit this, and those are the ones that products are added to: by FP32 and
// 16-bit operands 4096 x 4096 x 4096 took 2 to 5 percent longer.
FUNCTION void
write_tile(const struct TileResult* tile, const float* all, LOCAL_PTR float* exchange, const int item) {
  const float one = (int)PAIRS_OF_TURN == (int)PAIRS || tile->rows > 0 ? 1.0f : 0.0f;
  float sums[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    sums[i] = all[i] * one;
  }
#pragma unroll 1
  for (int first = 0; first < PAIRS; first += PAIRS_OF_TURN) {
    if (tile->in_pairs) {
      write_turn(tile, sums, first, exchange, item, 2);
    } else {
      write_turn(tile, sums, first, exchange, item, 1);
    }
#pragma unroll
    for (int i = SUMS_OF_TURN; i < SUMS; ++i) {
      sums[i - SUMS_OF_TURN] = sums[i];
    }
  }
}
