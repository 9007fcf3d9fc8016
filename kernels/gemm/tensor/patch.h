// What the tensor kernel has left out (see pieces.h) is computed in FP32 by the pipelined kernel with PATCH:
// it has the same operands, the scales of their pieces, and skips every tile of which the tensor kernel has
// written all. It may be started while the tensor kernel is still at work: the scales are there, and it reads
// them past the first cache, where it may be that older ones are left (volatile).

// Whether any of so many scales of A or B is NaN. All work-items ask together; `found` is local memory that
// nobody uses before or after.
FUNCTION bool is_left_out(const volatile __global float* a_scales, const volatile __global float* b_scales,
                          const int a_count, const int b_count, LOCAL_PTR int* found, const int item) {
  bool lacks = false;
  for (int i = item; i < a_count + b_count; i += WORK_ITEMS) {
    const float scale = i < a_count ? a_scales[i] : b_scales[i - a_count];
    lacks |= scale != scale;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    *found = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lacks) {
    *found = 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool left_out = *found != 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  return left_out;
}

// One chain of multiply-adds over all of k would err by more than the sums of the tensor kernel, and than the
// bound where k is long. So a chain ends after so many tiles along k and is added to the sums of a block, in
// registers, and after so many chains those are added to the sums of all. These are volatile, so that they
// are in memory, and leave registers to the products.
#define CHAIN (128 / TSK)
#define CHAINS_OF_BLOCK 16
#define SUMS (WPTM * WPTN)

typedef struct {
  float block[SUMS];
  volatile float all[SUMS];
  int tiles;   // of the chain
  int chains;  // of the block
} Promotion;

FUNCTION void begin_promotion(Promotion* promotion) {
  promotion->tiles = 0;
  promotion->chains = 0;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    promotion->block[i] = 0.0f;
    promotion->all[i] = 0.0f;
  }
}

FUNCTION void end_block(Promotion* promotion) {
  promotion->chains = 0;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    promotion->all[i] = promotion->all[i] + promotion->block[i];
    promotion->block[i] = 0.0f;
  }
}

FUNCTION void end_chain(float acc[WPTN][WPTM], Promotion* promotion) {
  promotion->tiles = 0;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    promotion->block[i] = promotion->block[i] + acc[i / WPTM][i % WPTM];
    acc[i / WPTM][i % WPTM] = 0.0f;
  }
  if (++promotion->chains == CHAINS_OF_BLOCK) {
    end_block(promotion);
  }
}

// After each tile along k.
FUNCTION void promote(float acc[WPTN][WPTM], Promotion* promotion) {
  if (++promotion->tiles == CHAIN) {
    end_chain(acc, promotion);
  }
}

FUNCTION void end_promotion(float acc[WPTN][WPTM], const Promotion* promotion) {
#pragma unroll
  for (int i = 0; i < SUMS; ++i) {
    acc[i / WPTM][i % WPTM] += promotion->block[i];
    acc[i / WPTM][i % WPTM] += promotion->all[i];
  }
}

// What the loop over k says before, between and behind its tiles.
#define BEGIN_PROMOTION() \
  Promotion promotion;    \
  begin_promotion(&promotion)
#define PROMOTE(acc) promote(acc, &promotion)
#define END_PROMOTION(acc) end_promotion(acc, &promotion)
