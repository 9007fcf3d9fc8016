// Rung 16: packed panels and vector registers, for CPUs.
//
// A CPU's core has no work-items to run together, but vectors, and caches that it fills by itself. So a
// work-group is one work-item, without barriers, and its sums stay in vector registers. Before it multiplies,
// it copies what it needs (packing), so that its loop reads memory from front to back:
//
//   A   TSM x TSK   packed once for a strip of C; stays in the second cache
//   B   TSK x COLS  packed for each COLS columns; stays in the first cache
//   C   TSM x COLS  in VECTORS * COLS vector registers, while both are multiplied
//
// In between, sums wait in memory for the next TSK of k. BLIS and OpenBLAS are made like this (K. Goto and
// R. van de Geijn, "Anatomy of high-performance matrix multiplication", 2008).
//
// A is M x K, B is N x K; M, N and K are multiples of TSM, TSN and TSK.

#ifndef WIDTH
#define WIDTH 8  // floats in a vector: 4 8 16
#endif
#ifndef VECTORS
#define VECTORS 3  // vectors along M: 1 2 3 4
#endif
#ifndef COLS
#define COLS 4  // columns of C in registers: 4 8
#endif
#ifndef TSN
#define TSN 96  // columns of C per work-item: 32 64 96 128 192
#endif
#ifndef TSK
#define TSK 128  // k that are packed at once: 8 32 64 128 256
#endif

#include "dialect.h"
#include "update.h"

#define TSM (VECTORS * WIDTH)
#define floatX FLOAT(WIDTH)

// Copies `count` runs of `length` floats, which stand `ld` apart, one after the other.
FUNCTION void pack(LOCAL_PTR float* to, const __global float* from, const int ld, const int count,
                   const int length) {
  for (int i = 0; i < count; ++i) {
#pragma unroll
    for (int j = 0; j < length; ++j) {
      to[i * length + j] = from[i * ld + j];
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
packed(const int M, const int N, const int K, const float alpha, const __global float* A,
       const __global float* B, const float beta, __global float* C) {
  __local float memory[TSM * TSK + TSK * COLS + TSM * TSN] __attribute__((aligned(64)));
  // An offset of 0 that the compiler does not know: PoCL 3.1 loses a local array with whose very address a
  // loop begins.
  LOCAL_PTR float* a_panel = memory + get_local_id(0);
  LOCAL_PTR float* b_panel = a_panel + TSM * TSK;
  LOCAL_PTR floatX* sums = (LOCAL_PTR floatX*)(b_panel + TSK * COLS);
  const int offset_m = TSM * get_group_id(0);
  const int offset_n = TSN * get_group_id(1);

  for (int tile = 0; tile < K; tile += TSK) {
    pack(a_panel, A + tile * M + offset_m, M, TSK, TSM);
    for (int col = 0; col < TSN; col += COLS) {
      pack(b_panel, B + tile * N + offset_n + col, N, TSK, COLS);

      floatX acc[COLS][VECTORS];
#pragma unroll
      for (int n = 0; n < COLS; ++n) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          acc[n][v] = tile == 0 ? (floatX)(0.0f) : sums[(col + n) * VECTORS + v];
        }
      }
      for (int k = 0; k < TSK; ++k) {
#pragma unroll
        for (int n = 0; n < COLS; ++n) {
#pragma unroll
          for (int v = 0; v < VECTORS; ++v) {
            acc[n][v] = fma(((const LOCAL_PTR floatX*)a_panel)[k * VECTORS + v],
                            (floatX)(b_panel[k * COLS + n]), acc[n][v]);
          }
        }
      }
#pragma unroll
      for (int n = 0; n < COLS; ++n) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          if (tile + TSK < K) {
            sums[(col + n) * VECTORS + v] = acc[n][v];
          } else {
            UPDATE(floatX, *(__global floatX*)&C[(offset_n + col + n) * M + offset_m + v * WIDTH], alpha,
                   acc[n][v], beta);
          }
        }
      }
    }
  }
}
