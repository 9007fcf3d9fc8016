// The tunables of the pipelined kernel, with their meanings and values. The host reads
// these lines, and defines a tunable where it is to have another value.

#ifndef TRANS_A
#define TRANS_A 0  // A is stored transposed, K x M: 0 1
#endif
#ifndef TRANS_B
#define TRANS_B 0  // B is stored transposed, N x K: 0 1
#endif
#ifndef V
#define V 1  // values of A and B read at once; 4 needs alignment to as many, and whole vectors: 1 4
#endif
#ifndef TSM
#define TSM 64  // work-group tile in M: 8 16 32 48 64 96 128 192 256
#endif
#ifndef TSN
#define TSN 64  // work-group tile in N: 8 16 32 48 64 96 128 192 256
#endif
#ifndef TSK
#define TSK 16  // tile in K: 8 16 32
#endif
#ifndef WPTM
#define WPTM 8  // rows of C per work-item: 4 8 16
#endif
#ifndef WPTN
#define WPTN 4  // columns of C per work-item: 4 8 16
#endif
#ifndef LANES_M
#define LANES_M 4  // of 32 neighbouring work-items, how many stand along M: 1 2 4 8 16 32
#endif
#ifndef LANE_ORDER
#define LANE_ORDER 0  // neighbouring work-items stand in a line along M, or four in a square: 0 1
#endif
#ifndef K_MAJOR
#define K_MAJOR 0  // transpose what is stored along k on its way to local memory, or from there: 0 1
#endif
#ifndef STAGES
#define STAGES 2  // tiles in local memory at once: 2 3 4 5 6
#endif
#ifndef ASYNC
#define ASYNC 1  // copy to local memory past the registers, where the device can, see operations.h: 0 1 2
#endif
#ifndef BYTES
#define BYTES 0  // count in bytes what changes from tile to tile, see copy.h: 0 1
#endif
#ifndef UNROLL_K
#define UNROLL_K 0  // k of a tile that are unrolled; all, for 0, take too many registers of some devices: 0 2
#endif
#ifndef FMA_ORDER
#define FMA_ORDER 0  // the order of a work-item's multiply-adds for one k, see mainloop.h: 0 1 2 3
#endif
#ifndef RECOMPUTE
#define RECOMPUTE 0  // compute where a work-item is anew for each member of a batch; spares registers: 0 1
#endif
#ifndef RESIDENT
#define RESIDENT 1  // work-groups that should fit on a multiprocessor, see dialect.h: 0 1 2 3 4 6 8
#endif
