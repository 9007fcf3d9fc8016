// The bits of a product by the kernels for tensor cores (kernels/gemm/tensor), computed on the host.
#pragma once

#include <span>
#include <vector>

#include "check/tensor_core.h"
#include "plan/schedule.h"
#include "problem/problem.h"

namespace duogemm {

// What decides them, besides the operands.
struct PiecesProduct {
  Precision precision;
  std::int64_t tile_m;  // of the tiles of C that are computed in FP32 where pieces do not hold what they need
  std::int64_t depth;   // of a block along k, after which sums are promoted
  std::int64_t slices;  // of k
};
PiecesProduct pieces_product(const Schedule& schedule, const Problem& problem);

// C of a problem that is no batch, m x n, packed. a, b and c are as the problem describes them; c is read
// only when beta is not zero.
std::vector<float> multiply_in_pieces(const Problem& problem, std::span<const float> a,
                                      std::span<const float> b, std::span<const float> c,
                                      const PiecesProduct& product, const TensorCore& core);

}  // namespace duogemm
