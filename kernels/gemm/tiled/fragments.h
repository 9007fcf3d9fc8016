// Fragments: what a work-item needs of A and of B for one k, from local memory to registers.
//
//   a[0] b[0]   k = 0    loaded    multiplied
//   a[1] b[1]   k = 1              loaded    multiplied
//   a[0] b[0]   k = 2                        loaded    multiplied
//
// They are loaded one k ahead, so that multiply-adds hide the loads.

// With BYTES, a work-item keeps the position of its first column for each swizzle.
#define POSITIONS(transposed, size) (BYTES && (transposed) ? SWIZZLES(size) : 1)

typedef struct {
  float a[2][WPTM];
  float b[2][WPTN];
  int a_positions[POSITIONS(TRANS_A, TSM)];
  int b_positions[POSITIONS(!TRANS_B, TSN)];
} Fragments;

// positions[e] becomes where `column` stands in a row with the e-th swizzle. With BYTES, a compiler does not
// see what that was made from: it would join it with where the tile begins, and do so anew for each tile.
// Left apart, a load adds the two, which NVIDIA's can where one is the same for all work-items.
FUNCTION void
begin_fragment(int* positions, const int column, const int transposed, const int size) {
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
    // Which of these a compiler makes more of: with TRANSPOSE_ASYNC there are many swizzles.
    const int column = positions[0];
    const int position = !TRANSPOSE_ASYNC || !transposed ? (column + i * apart) ^ swizzle
                         : apart % 32 == 0               ? (column ^ swizzle) + i * apart
                                                         : column ^ (i * apart ^ swizzle);
    vstore4(*(const LOCAL_PTR float4*)(tile + k * size + position), i, fragment);
#endif
  }
}

FUNCTION void
begin_fragments(Fragments* f, const Place place) {
  begin_fragment(f->a_positions, place.m, TRANS_A, TSM);
  begin_fragment(f->b_positions, place.n, !TRANS_B, TSN);
}

// Loads those of row k of a stage into the pair of buffers that k has.
FUNCTION void
load_fragments(Fragments* f, const LOCAL_PTR float* stage, const int k) {
  load_fragment(f->a[k % 2], stage, f->a_positions, k, WPTM, 4 * LANES_M, TRANS_A, TSM);
  load_fragment(f->b[k % 2], stage + TSK * TSM, f->b_positions, k, WPTN, 4 * LANES_N, !TRANS_B, TSN);
}
