// Fragments: what a work-item needs of A and of B for one k, from local memory to registers.
//
//   a[0] b[0]   k = 0    loaded    multiplied
//   a[1] b[1]   k = 1              loaded    multiplied
//   a[0] b[0]   k = 2                        loaded    multiplied
//
// They are loaded one k ahead, so that multiply-adds hide the loads. What lies along k in local memory is
// loaded four k at once, when the first of them is due.

// With BYTES, a work-item keeps the position of its first column for each swizzle.
#define POSITIONS(transposed, size) (BYTES && (transposed) && !K_MAJOR ? SWIZZLES(size) : 1)

// Rows of fragments that are in registers at once.
enum { A_ROWS = K_MAJOR && TRANS_A ? 8 : 2, B_ROWS = K_MAJOR && !TRANS_B ? 8 : 2 };

typedef struct {
  float a[A_ROWS][WPTM];
  float b[B_ROWS][WPTN];
  int a_positions[POSITIONS(TRANS_A, TSM)];
  int b_positions[POSITIONS(!TRANS_B, TSN)];
} Fragments;

// positions[e] becomes where `column` stands in a row with the e-th swizzle. With BYTES, a compiler does not
// see what that was made from: it would join it with where the tile begins, and do so anew for each tile.
// Left apart, a load adds the two, which NVIDIA's can where one is the same for all work-items.
FUNCTION void
begin_fragment(int* positions, const int column, const int transposed, const int size, const int lanes) {
  if (transposed && K_MAJOR) {
    positions[0] = position_in_slot(slot_of(column, lanes), 0) * UNIT;
    return;
  }
#pragma unroll
  for (int e = 0; e < POSITIONS(transposed, size); ++e) {
    positions[e] = (column ^ (e * TOGETHER)) * UNIT;
#if BYTES
    OPAQUE(positions[e]);
#endif
  }
}

// Loads `count` values of row k, in float4 that are `apart` columns apart, from begin_fragment's column
// on.
FUNCTION void
load_fragment(float* fragment, const LOCAL_PTR float* tile, const int* positions, const int k,
              const int count, const int apart, const int transposed, const int size) {
#pragma unroll
  for (int i = 0; i < count / 4; ++i) {
    const int swizzle = transposed ? swizzle_of(k, size) : 0;
#if BYTES
    // The other bits of `away` than those of e are none of the column's.
    const int away = i * apart ^ swizzle;
    const int e = away / TOGETHER % POSITIONS(transposed, size);
    const LOCAL_PTR float* row = tile + (k * size + away - e * TOGETHER);
    vstore4(*(const LOCAL_PTR float4*)((const LOCAL_PTR char*)row + positions[e]), i, fragment);
#else
    const int position = (positions[0] + i * apart) ^ swizzle;
    vstore4(*(const LOCAL_PTR float4*)(tile + k * size + position), i, fragment);
#endif
  }
}

// Loads four k of `count` columns, from the k-th row on, into as many rows of fragments. A work-item's
// columns stand `lanes` slots apart, from begin_fragment's on. The swizzle of such a slot is that of the
// first, exclusive or that of i * lanes, as they have no bit in common.
FUNCTION void
load_four_k(float* fragments, const LOCAL_PTR float* tile, const int position, const int k, const int count,
            const int lanes) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int at = (position ^ ((k ^ swizzle_of_slot(i * lanes)) * UNIT)) + i * lanes * TSK * UNIT;
    float four[4];
#if BYTES
    vstore4(*(const LOCAL_PTR float4*)((const LOCAL_PTR char*)tile + at), 0, four);
#else
    vstore4(*(const LOCAL_PTR float4*)(tile + at), 0, four);
#endif
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      fragments[(k % 8 + e) * count + i] = four[e];
    }
  }
}

FUNCTION void
begin_fragments(Fragments* f, const Place place) {
  begin_fragment(f->a_positions, place.m, TRANS_A, TSM, LANES_M);
  begin_fragment(f->b_positions, place.n, !TRANS_B, TSN, LANES_N);
}

// Loads those of row k of a stage into the buffers that k has, unless they are there already.
FUNCTION void
load_fragments(Fragments* f, const LOCAL_PTR float* stage, const int k) {
  const LOCAL_PTR float* b_tile = stage + TSK * TSM;
  if (!(K_MAJOR && TRANS_A)) {
    load_fragment(f->a[k % 2], stage, f->a_positions, k, WPTM, 4 * LANES_M, TRANS_A, TSM);
  } else if (k % 4 == 0) {
    load_four_k(f->a[0], stage, f->a_positions[0], k, WPTM, LANES_M);
  }
  if (!(K_MAJOR && !TRANS_B)) {
    load_fragment(f->b[k % 2], b_tile, f->b_positions, k, WPTN, 4 * LANES_N, !TRANS_B, TSN);
  } else if (k % 4 == 0) {
    load_four_k(f->b[0], b_tile, f->b_positions[0], k, WPTN, LANES_N);
  }
}
