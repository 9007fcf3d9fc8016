// In rungs 7 to 10, everything moves as vectors of WIDTH floats.
//
// A work-item's rows and columns of the work-group's tile come in runs of WIDTH, which stand RTSM and RTSN
// runs apart (RTSM = 4, WIDTH = 2, WPTM = 4: the first work-item has the rows marked x):
//
//     | x x . . . . . . | x x . . . . . . |
//       run 0, 1, 2, 3    run 4, 5, 6, 7
//
// Tiles of A and B lie in local memory as [k][m] and [k][n], in vectors: TSMX and TSNX of them for a k. The
// file that includes this defines TSM, TSN, TSK, WPTM, WPTN and WIDTH, and USE_SHUFFLE if it has the switch.

#define floatX FLOAT(WIDTH)
#define vstoreX VSTORE(WIDTH)
#define RTSM (TSM / WPTM)
#define RTSN (TSN / WPTN)
#define WORK_ITEMS (RTSM * RTSN)
#define TSMX (TSM / WIDTH)
#define TSNX (TSN / WIDTH)
#define WPTMX (WPTM / WIDTH)
#define WPTNX (WPTN / WIDTH)
#define LPTA (TSK * TSMX / WORK_ITEMS)
#define LPTB (TSK * TSNX / WORK_ITEMS)

FUNCTION void set_to_zero(floatX* acc) {
#pragma unroll
  for (int i = 0; i < WPTN * WPTMX; ++i) {
    acc[i] = (floatX)(0.0f);
  }
}

// A work-item's values of B for one k. With shuffles, the RTSM work-items of one tidn, which are neighbours
// in a sub-group and need the same values, load one each and pass it around.
FUNCTION void read_b(float* b, const LOCAL_PTR floatX* tile, const int tidm, const int tidn) {
#if defined(USE_SHUFFLE) && USE_SHUFFLE
  const int first_lane = SUB_GROUP_LANE() - tidm;
  const int own = tidm % WPTN;
  const float shared_b = ((const LOCAL_PTR float*)tile)[(tidn + own / WIDTH * RTSN) * WIDTH + own % WIDTH];
#pragma unroll
  for (int wn = 0; wn < WPTN; ++wn) {
    b[wn] = SHUFFLE(shared_b, first_lane + wn);
  }
#else
#pragma unroll
  for (int wn = 0; wn < WPTNX; ++wn) {
    vstoreX(tile[tidn + wn * RTSN], wn, b);
  }
#endif
}

// Adds the products of two tiles to a work-item's sums: of column wn, vector wm is acc[wn * WPTMX + wm].
FUNCTION void multiply(floatX* acc, const LOCAL_PTR floatX* a_tile, const LOCAL_PTR floatX* b_tile,
                       const int tidm, const int tidn) {
#pragma unroll 8
  for (int k = 0; k < TSK; ++k) {
    floatX a[WPTMX];
    float b[WPTN];
#pragma unroll
    for (int wm = 0; wm < WPTMX; ++wm) {
      a[wm] = a_tile[k * TSMX + tidm + wm * RTSM];
    }
    read_b(b, b_tile + k * TSNX, tidm, tidn);
#pragma unroll
    for (int wn = 0; wn < WPTN; ++wn) {
#pragma unroll
      for (int wm = 0; wm < WPTMX; ++wm) {
        acc[wn * WPTMX + wm] = fma(a[wm], (floatX)(b[wn]), acc[wn * WPTMX + wm]);
      }
    }
  }
}

// The position of column wn of a work-item and of its vector wm in the work-group's tile.
#define COLUMN(tidn, wn) (((tidn) + (wn) / WIDTH * RTSN) * WIDTH + (wn) % WIDTH)
#define VECTOR(tidm, wm) ((tidm) + (wm)*RTSM)
