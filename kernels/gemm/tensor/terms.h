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
//
// At the level batch_invariant no row may matter to another: each has a scale for all k. These follow,
// [member][panel][row]; the blocks' scales are 1. An element of D is left to fixup.cl if the scale of its row
// of A or of B is NaN.

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

// That of a panel's rows: after the scales of all blocks.
FUNCTION long
row_scales_position(const long members, const long member, const long panel, const long panels,
                    const long blocks, const int terms) {
  return scales_position(members, members, 0, panels, blocks, terms) + (member * panels + panel) * PANEL;
}

#define SCALE_OF_NONE AS_FLOAT(0x7f800000u)     // of a panel without rows
#define SCALE_OF_INEXACT AS_FLOAT(0x7fffffffu)  // NaN, of what terms cannot hold

// Values whose largest is outside of 2^-48 to 2^48 are none that terms hold: so products of scales, and sums
// of products, stay within FP32.
enum {
  EXPONENT_BIAS = 127,
  FARTHEST_EXPONENT = 48,
  LARGEST_EXPONENT = 14  // of the scaled values
};

// The scale of values, of which the largest has these bits without a sign. And what they are multiplied by
// for it: some number where it is NaN.
FUNCTION float
scale_of(const uint largest) {
  const int exponent = (int)(largest >> 23);
  const bool far =
      exponent < EXPONENT_BIAS - FARTHEST_EXPONENT || exponent >= EXPONENT_BIAS + FARTHEST_EXPONENT;
  return largest == 0 ? 1.0f : far ? SCALE_OF_INEXACT : AS_FLOAT((uint)(exponent - LARGEST_EXPONENT) << 23);
}
FUNCTION float
factor_of(const float scale) {
  return AS_FLOAT(((uint)(2 * EXPONENT_BIAS) << 23) - AS_UINT(scale));
}

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
