// The loop over k, and what comes before it.
//
//   stage 0   copy ....  multiply ####   copy ....           multiply
//   stage 1   copy ....       copy ....  multiply ####   copy ....
//   stage 2        copy ....                  copy ....  multiply ####
//
// While a tile is multiplied, the next STAGES - 1 are in local memory or on their way there. The barrier
// of a tile stands before its last k, whose fragments are in registers by then: the multiply-adds of that k
// hide the first loads from the next tile.

FUNCTION int
next_stage(const int stage) {
  return stage == LAST_STAGE ? 0 : stage + STAGE;
}

// `rows` rows of these tiles are left, perhaps more than they have, or fewer, or none. Of whole tiles it is a
// constant, so that no comparison is left between their loads.
FUNCTION void
copy_tiles(Operand* a, Operand* b, const int stage, const int rows) {
  if (rows >= TSK) {
    copy_tile(a, stage, TSK, TSM, TRANS_A);
    copy_tile(b, stage, TSK, TSN, !TRANS_B);
  } else if (rows > 0) {
    copy_tile(a, stage, rows, TSM, TRANS_A);
    copy_tile(b, stage, rows, TSN, !TRANS_B);
  }
  COPY_COMMIT();
}
FUNCTION void
load_tiles(Operand* a, Operand* b, const int rows) {
  if (rows >= TSK) {
    load_tile(a, TSK, TSM, TRANS_A);
    load_tile(b, TSK, TSN, !TRANS_B);
  } else if (rows > 0) {
    load_tile(a, rows, TSM, TRANS_A);
    load_tile(b, rows, TSN, !TRANS_B);
  }
}
FUNCTION void
store_tiles(const Operand* a, const Operand* b, const int stage, const int rows) {
  if (rows > 0) {
    store_tile(a, stage, TSM, TRANS_A);
    store_tile(b, stage, TSN, !TRANS_B);
  }
}

// Brings the first tiles on their way, of which there are `depth` rows, and waits for the first of them.
FUNCTION void
prologue(Operand* a, Operand* b, const int depth) {
  int left = depth;
#pragma unroll
  for (int stage = 0; stage < LAST_STAGE; stage += STAGE) {
    load_tiles(a, b, left);
    copy_tiles(a, b, stage, left);
    store_tiles(a, b, stage, left);
    left -= TSK;
  }
  load_tiles(a, b, left);
  COPY_WAIT(STAGES - 2);
  barrier(CLK_LOCAL_MEM_FENCE);
}

// The order of the multiply-adds of one k: what a compiler makes of it differs by several percent, because
// neighbours that share an operand spare the register file a read. 0: along N, back and forth; 1: along N; 2:
// along M, back and forth; 3: in blocks of 4 x 2.
FUNCTION int
fma_row(const int i) {
  return FMA_ORDER <= 1   ? i / WPTN
         : FMA_ORDER == 2 ? (i / WPTM % 2 ? WPTM - 1 - i % WPTM : i % WPTM)
                          : i / 8 % (WPTM / 4) * 4 + i % 8 / 2;
}
FUNCTION int
fma_column(const int i) {
  return FMA_ORDER == 0   ? (i / WPTN % 2 ? WPTN - 1 - i % WPTN : i % WPTN)
         : FMA_ORDER == 1 ? i % WPTN
         : FMA_ORDER == 2 ? i / WPTM
                          : i / 8 / (WPTM / 4) * 2 + (i / 2 % 2 ? 1 - i % 2 : i % 2);
}

FUNCTION void
multiply_fragments(float acc[WPTN][WPTM], const float* a, const float* b) {
#pragma unroll
  for (int i = 0; i < WPTM * WPTN; ++i) {
    const int m = fma_row(i);
    const int n = fma_column(i);
    acc[n][m] = fma(a[m], b[n], acc[n][m]);
  }
}

enum { UNROLLED = UNROLL_K == 0 ? TSK : UNROLL_K };

// Multiplies the tile of stage `now`, copies one to stage `ahead`, of which `rows` rows are left, and loads
// the one after that, of which `rows_after` are. `more` says whether another tile is to be multiplied, that
// of stage `next`. The barrier also keeps a compiler from moving the loads towards their use.
FUNCTION void
multiply_tile(float acc[WPTN][WPTM], Fragments* f, const LOCAL_PTR float* tiles, Operand* a, Operand* b,
              const int now, const int next, const int ahead, const int rows, const int rows_after,
              const bool more) {
  copy_tiles(a, b, ahead, rows);
#pragma unroll UNROLLED
  for (int k = 0; k < TSK; ++k) {
    if (k < TSK - 1) {
      load_fragments(f, tiles + now, k + 1);
    } else {
      store_tiles(a, b, ahead, rows);
      load_tiles(a, b, rows_after);
      COPY_WAIT(STAGES - 2);
      barrier(CLK_LOCAL_MEM_FENCE);
      if (more) {
        load_fragments(f, tiles + next, 0);
      }
    }
    multiply_fragments(acc, f->a[k % A_ROWS], f->b[k % B_ROWS]);
  }
}

// Adds the products of `depth` rows to the sums. First while whole tiles are left to copy, then what is left.
FUNCTION void
mainloop(float acc[WPTN][WPTM], const LOCAL_PTR float* tiles, Operand* a, Operand* b, const int depth,
         const Place place) {
  Fragments f;
  begin_fragments(&f, place);
  load_fragments(&f, tiles, 0);
  int now = 0;
  int ahead = LAST_STAGE;
  int left = depth - (STAGES - 1) * TSK;  // rows that are not in local memory yet, nor on their way there
  for (; left >= (THROUGH_REGISTERS ? 2 * TSK : TSK); left -= TSK) {
    const int next = next_stage(now);
    multiply_tile(acc, &f, tiles, a, b, now, next, ahead, TSK, TSK, true);
    now = next;
    ahead = next_stage(ahead);
  }
  for (; left > -(STAGES - 1) * TSK; left -= TSK) {
    const int next = next_stage(now);
    multiply_tile(acc, &f, tiles, a, b, now, next, ahead, left, left - TSK, left > -(STAGES - 2) * TSK);
    now = next;
    ahead = next_stage(ahead);
  }
}
