// The bits of a product by the kernels for tensor cores (kernels/gemm/tensor), computed on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace duogemm::testing {

// NVIDIA documents nothing of how its tensor cores add up. This is the model of MMA-Sim (Xie, Wang, Yang and
// Yang, arXiv:2511.10909): exact products and the accumulator are aligned to the largest exponent among them,
// cut off there, added, and the sum is cut off to FP32. The figures are those for compute capability 9.0.
struct TensorCore {
  int block = 16;              // products that are added at once
  int fraction_bits = 25;      // that the largest of them keeps, and the others down to its last
  bool rounds_terms = false;   // to the nearest, instead of cutting off
  bool rounds_result = false;  // likewise
};

// A number of half the width: significand * 2^(exponent - fraction bits of its type). The exponent is that of
// its leading bit, or the least of its type.
struct Term {
  std::int32_t significand = 0;
  std::int32_t exponent = 0;
};

// The nearest number of the type of a precision's terms, FP16 or BF16, which must not overflow.
Term to_term(float value, Precision precision);
float to_float(const Term& term, Precision precision);

// acc + a[0] b[0] + a[1] b[1] + ..., in blocks one after the other.
float add_products(float acc, std::span<const Term> a, std::span<const Term> b, Precision precision,
                   const TensorCore& core);

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
                                     const TensorProduct& product, const TensorCore& core);

}  // namespace duogemm::testing
