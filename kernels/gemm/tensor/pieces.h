// An operand of the tensor kernel: pieces of its values, as they will lie in local memory.
//
// A value is the sum of PIECES numbers of half the width, after its block has been scaled by a power of two
// that brings the block's largest value to [2^14, 2^15). A block is PANEL rows (m of A, n of B) by TSK along
// k:
//
//   F16   two of FP16, 11 bits each; the second is kept 2^11 times as large, so that it reaches as far down
//         as the first. Together they are within 2^-23 of the value, down to 2^-28 of the block's largest
//   BF16  three of BF16, 8 bits each, which are the value itself
//
// An operand is an array of images, [block along k][panel][piece]. An image is PANEL rows of TSK pieces,
// whose chunks of 16 bytes are swizzled by the row, so that neither those who write nor the tensor cores meet
// bank conflicts. Behind the images of all members of the batch stand the blocks' scales,
// [member][panel][block along k]: what a block's values were divided by, or NaN where pieces cannot hold
// them: infinities, NaNs, exponents far from 1, or values too small beside the largest. A tile of C that
// needs such a block is left out, and computed in FP32 (see patch.h).

#define PIECES (2 + BF16X6)
#if BF16X6
#define PIECE BF16
#define NEXT_PIECE_SCALE 1.0f  // how many times as large as it is the next piece is kept
#else
#define PIECE F16
#define NEXT_PIECE_SCALE 2048.0f
#endif
#define ROW_BYTES (2 * TSK)
#define IMAGE_BYTES (PANEL * ROW_BYTES)
#define BLOCK_BYTES (PIECES * IMAGE_BYTES)

// Where a row's chunk of 16 bytes is in an image: the swizzle of wgmma for rows of 64 and of 128 bytes.
#define CHUNK_PLACE(row, chunk) \
  ((row)*ROW_BYTES + (((chunk) ^ (ROW_BYTES == 128 ? (row) % 8 : (row) / 2 % 4)) * 16))

// Of an operand with so many blocks in a member: its images in uints, and where a panel's scales begin.
#define IMAGES_LENGTH(members, panels, depth) ((members) * (panels) * (depth) * (BLOCK_BYTES / 4))
#define SCALES_PLACE(members, member, panel, panels, depth) \
  (IMAGES_LENGTH(members, panels, depth) + ((member) * (panels) + (panel)) * (depth))

// Whether a sub-group finds a panel, whose scales these are, without a block that pieces cannot hold.
FUNCTION int is_exact(const __global float* scales, const int depth, const int lane) {
  int lacks = 0;
#pragma unroll 1
  for (int block = lane; block < depth; block += 32) {
    lacks |= scales[block] != scales[block];
  }
  return !ANY_IN_SUB_GROUP(lacks);
}
