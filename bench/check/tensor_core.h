// How NVIDIA's tensor cores add up products, bit for bit, as far as it is known: NVIDIA documents none of it.
#pragma once

#include <cstdint>
#include <span>

#include "duogemm/sgemm.hpp"

namespace duogemm {

// The model of MMA-Sim (Xie, Wang, Yang and Yang, arXiv:2511.10909): exact products and the accumulator are
// aligned to the largest exponent among them, cut off there, added, and the sum is cut off to FP32. What is
// said here are its figures for compute capability 9.0.
struct TensorCore {
  int block = 16;              // products that are added at once
  int fraction_bits = 25;      // that the largest of them keeps, and the others down to its last
  bool rounds_terms = false;   // to the nearest, instead of cutting off
  bool rounds_result = false;  // likewise
};

// A number of half the width: significand * 2^(exponent - fraction bits of its type). The exponent is that of
// its leading bit, or the least of its type.
struct Piece {
  std::int32_t significand = 0;
  std::int32_t exponent = 0;
};

// The nearest number of the type that a precision's pieces have, FP16 or BF16, which must not overflow.
Piece to_piece(float value, Precision precision);
float to_float(const Piece& piece, Precision precision);

// acc + a[0] b[0] + a[1] b[1] + ..., in blocks one after the other.
float add_products(float acc, std::span<const Piece> a, std::span<const Piece> b, Precision precision,
                   const TensorCore& core);

}  // namespace duogemm
