// The bits of a product by the kernels for tensor cores (kernels/gemm/tensor), computed on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace duogemm::testing {

// This decides the bits, besides the operands.
struct TensorProduct {
  Precision precision;
  std::int64_t tile_m;  // of the tiles of C that are computed in FP32 where terms are inexact
  std::int64_t depth;   // of a block along k, after which sums are promoted
  std::int64_t splits;  // of k
};

// C of a problem that is no batch, m x n, packed. a, b and c are as the problem describes them; c is read
// only when beta is not zero.
std::vector<float> multiply_in_terms(const Problem& problem, std::span<const float> a,
                                     std::span<const float> b, std::span<const float> c,
                                     const TensorProduct& product);

}  // namespace duogemm::testing
