// Rungs 12 to 15 share warp tiles.
//
// 32 work-items with consecutive numbers run together on NVIDIA's GPUs (a warp). Rung 12 gives them one block
// of the work-group's tile, LANES_M of them along M:
//
//        TSN                     a warp tile with LANES_M 8, WPTM 8, WPTN 8: 64 x 32
//     +---+---+                      4 columns of lane 0, 8, 16, 24, then the same again
//     | 0 | 2 |   warps              |
//  TSM+---+---+   --------->    0  8 16 24  0  8 16 24    rows in fours: of lane 0, 1, ... 7,
//     | 1 | 3 |                 1  9 17 25  1  9 17 25    then the same again
//     +---+---+                 :  :  :  :  :  :  :  :
//
// A warp reads from local memory for one k WARP_M values of A and WARP_N of B: the more square the
// block, the fewer. Lanes that read the same four values are served at once (broadcast), and neighbours read
// what stands side by side, so that no two of them want different words of one bank (bank conflict).
//
// Tiles of A and B lie in local memory as [k][m] and [k][n]. The file that includes this defines TSM, TSN,
// TSK, WPTM, WPTN and LANES_M.

#define LANES_N (32 / LANES_M)
#define WARP_M (LANES_M * WPTM)
#define WARP_N (LANES_N * WPTN)
#define WARPS_M (TSM / WARP_M)
#define WORK_ITEMS (WARPS_M * (TSN / WARP_N) * 32)
#define QUADS_M (WPTM / 4)
#define QUADS_N (WPTN / 4)

// A work-item's first row and column in the work-group's tile.
#define FIRST_ROW(item) ((item) / 32 % WARPS_M * WARP_M + (item) % LANES_M * 4)
#define FIRST_COL(item) ((item) / 32 / WARPS_M * WARP_N + (item) % 32 / LANES_M * 4)

// Brings this work-item's share of a tile of TSK x `size`, which begins at `from`, to local memory. `ld` is
// from one k to the next.
FUNCTION void fetch(LOCAL_PTR float* to, const __global float* from, const int ld, const int size,
                    const int item) {
#pragma unroll
  for (int l = 0; l < TSK * size / 4 / WORK_ITEMS; ++l) {
    const int id = l * WORK_ITEMS + item;
    COPY_TO_LOCAL(4, to + 4 * id, from + id / (size / 4) * ld + id % (size / 4) * 4);
  }
}

// Adds the products of two tiles to a work-item's sums: of column wn, the q-th float4 is
// acc[wn * QUADS_M + q].
FUNCTION void multiply(float4* acc, const LOCAL_PTR float* a_tile, const LOCAL_PTR float* b_tile,
                       const int item) {
  const LOCAL_PTR float* a_from = a_tile + FIRST_ROW(item);
  const LOCAL_PTR float* b_from = b_tile + FIRST_COL(item);
#pragma unroll 8
  for (int k = 0; k < TSK; ++k) {
    float4 a[QUADS_M];
    float b[WPTN];
#pragma unroll
    for (int q = 0; q < QUADS_M; ++q) {
      a[q] = *(const LOCAL_PTR float4*)(a_from + k * TSM + q * 4 * LANES_M);
    }
#pragma unroll
    for (int q = 0; q < QUADS_N; ++q) {
      vstore4(*(const LOCAL_PTR float4*)(b_from + k * TSN + q * 4 * LANES_N), q, b);
    }
#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
      for (int q = 0; q < QUADS_M; ++q) {
        acc[wn * QUADS_M + q] = fma(a[q], (float4)(b[wn]), acc[wn * QUADS_M + q]);
      }
    }
  }
}

FUNCTION void set_to_zero(float4* acc) {
#pragma unroll
  for (int i = 0; i < WPTN * QUADS_M; ++i) {
    acc[i] = (float4)(0.0f);
  }
}

// Updates the tile of C that begins at `to` with all sums.
FUNCTION void update_tile(__global float* to, const int ld, const float alpha, const float beta,
                          const float4* acc, const int item) {
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
    const int col = FIRST_COL(item) + wn / 4 * 4 * LANES_N + wn % 4;
#pragma unroll
    for (int q = 0; q < QUADS_M; ++q) {
      const int row = FIRST_ROW(item) + q * 4 * LANES_M;
      UPDATE(float4, *(__global float4*)(to + col * ld + row), alpha, acc[wn * QUADS_M + q], beta);
    }
  }
}
