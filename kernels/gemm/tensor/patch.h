// What the tensor kernel has left out (see pieces.h) is computed in FP32 by the pipelined kernel with PATCH:
// it has the same operands, the scales of their pieces, and skips every tile of which the tensor kernel has
// written all.

// The scales of an operand's blocks.
typedef struct {
  const __global float* first;
  long panels;   // of a member
  long members;  // that are split: one where all of the batch have the same operand
  long blocks;   // of a panel
} Scales;

FUNCTION const __global float* scales_of(const Scales* all, const long member, const long panel) {
  return all->first + (member % all->members * all->panels + panel) * all->blocks;
}

// Whether a work-item finds a NaN among its share of so many scales.
FUNCTION bool finds_nan(const __global float* scales, const int count, const int item) {
  bool lacks = false;
#pragma unroll 4
  for (int i = item; i < count; i += WORK_ITEMS) {
    const float scale = scales[i];
    lacks |= scale != scale;
  }
  return lacks;
}

// Whether any of so many scales of A or B is NaN. All work-items ask together; `found` is local memory that
// nobody uses before or after.
FUNCTION bool is_left_out(const __global float* a_scales, const int a_count, const __global float* b_scales,
                          const int b_count, LOCAL_PTR int* found, const int item) {
  const bool a_lacks = finds_nan(a_scales, a_count, item);
  const bool b_lacks = finds_nan(b_scales, b_count, item);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    *found = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (a_lacks || b_lacks) {
    *found = 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool left_out = *found != 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  return left_out;
}

// Mostly nothing is. So every work-group asks for all tiles first, and there are few of them.
FUNCTION bool is_anything_left_out(const Scales* a, const Scales* b, LOCAL_PTR int* found, const int item) {
  return is_left_out(a->first, (int)(a->members * a->panels * a->blocks), b->first,
                     (int)(b->members * b->panels * b->blocks), found, item);
}

// Whether the tensor kernel has left a tile out. Its own tiles are panels_in_tile panels of A by one of B.
FUNCTION bool is_tile_left_out(const Scales* a, const Scales* b, const Tile* tile, const long panels_in_tile,
                               const long member, LOCAL_PTR int* found, const int item) {
  const long a_panel = tile->m.first / (PANEL * panels_in_tile) * panels_in_tile;
  return is_left_out(scales_of(a, member, a_panel), (int)(panels_in_tile * a->blocks),
                     scales_of(b, member, tile->n.first / PANEL), (int)b->blocks, found, item);
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
