// An operand of the tensor kernel: terms of its values, as they will lie in local memory.
//
// A value is the sum of TERMS numbers of half the width, after its block has been scaled by a power of two
// that brings the block's largest value to [2^14, 2^15). A block is PANEL rows (m of A, n of B) by TSK along
// k:
//
//   F16   two of FP16, 11 bits each; the second is kept 2^11 times as large, so that it reaches as far down
//         as the first. Together they are within 2^-23 of the value, down to 2^-28 of the block's largest
//   BF16  three of BF16, 8 bits each, which are the value itself
//
// Of an operand whose values have 16 bits, the first term is the value itself, and the only one.
//
// An operand is an array of shared-memory tiles, [block along k][panel][term]. Such a tile is PANEL rows of
// TSK terms, whose 16 bytes are swizzled by the row, so that neither those who write nor the tensor cores
// meet bank conflicts. After the tiles of all members of the batch stand the blocks' scales,
// [member][panel][block along k]: each is what the block's values were divided by, or NaN where terms cannot
// hold them: infinities, NaNs, exponents far from 1, or values too small versus the largest. A tile of D that
// needs such a block is left to fixup.cl. Of a grouped product's panels without rows they are infinite, and
// there is no tile of D to compute.

#if BF16X6
#define TERM BF16
#else
#define TERM F16
#endif
#define NEXT_TERM_SCALE (BF16X6 ? 1.0f : 2048.0f)  // how many times as large as it is the next term is kept
enum { TERMS = 2 + BF16X6, ROW_BYTES = 2 * TSK, SMEM_TILE_BYTES = PANEL * ROW_BYTES };

// The position of a row's 16 bytes, the chunk-th, in a tile: the swizzle of wgmma for rows of 64 and of 128
// bytes.
FUNCTION int
chunk_position(const int row, const int chunk) {
  return row * ROW_BYTES + ((chunk ^ (ROW_BYTES == 128 ? row % 8 : row / 2 % 4)) * 16);
}

// The position of a panel's scales, in elements from the operand's first: after the tiles of all members.
FUNCTION long
scales_position(const long members, const long member, const long panel, const long panels, const long blocks,
                const int terms) {
  return members * panels * blocks * (terms * (SMEM_TILE_BYTES / 4)) + (member * panels + panel) * blocks;
}

#define SCALE_OF_NONE AS_FLOAT(0x7f800000u)  // of a panel without rows

// Do terms hold all blocks of a panel that has rows, whose scales these are? A sub-group asks together.
FUNCTION int
is_exact(const __global float* scales, const int blocks, const int lane) {
  int inexact = 0;
#pragma unroll 1
  for (int block = lane; block < blocks; block += 32) {
    inexact |= !(scales[block] < SCALE_OF_NONE);
  }
  return !ANY_IN_SUB_GROUP(inexact);
}
