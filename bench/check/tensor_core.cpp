#include "check/tensor_core.h"

#include <algorithm>
#include <cmath>

namespace duogemm {
namespace {

struct PieceType {
  int fraction_bits;
  int least_exponent;
};
constexpr PieceType type_of(Precision precision) {
  return precision == Precision::f16x3 ? PieceType{10, -14} : PieceType{7, -126};
}

constexpr int fraction_bits = 23;  // of FP32
constexpr int least_exponent = -126;
constexpr int none = -10000;  // the exponent of zero

int exponent_of(float value) { return value == 0.0f ? none : std::max(std::ilogb(value), least_exponent); }

// An integer in units of 2^from, in units of 2^to.
std::int64_t align(std::int64_t significand, int from, int to, bool rounds) {
  if (from >= to) {
    return significand << (from - to);
  }
  const int shift = std::min(to - from, 62);
  const std::int64_t half = rounds ? std::int64_t{1} << (shift - 1) : 0;
  const std::int64_t magnitude = (std::abs(significand) + half) >> shift;
  return significand < 0 ? -magnitude : magnitude;
}

float to_fp32(std::int64_t sum, int exponent, bool rounds) {
  const double exact = std::ldexp(static_cast<double>(sum), exponent);
  const float nearest = static_cast<float>(exact);
  const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(exact);
  return away && !rounds ? std::nextafter(nearest, 0.0f) : nearest;
}

float add_block(float acc, std::span<const Piece> a, std::span<const Piece> b, int product_bits,
                const TensorCore& core) {
  int largest = exponent_of(acc);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].significand != 0 && b[i].significand != 0) {
      largest = std::max(largest, a[i].exponent + b[i].exponent);
    }
  }
  if (largest == none) {
    return acc;
  }
  const int unit = largest - core.fraction_bits;
  std::int64_t sum = 0;
  if (acc != 0.0f) {
    const int last = exponent_of(acc) - fraction_bits;
    sum = align(static_cast<std::int64_t>(std::ldexp(acc, -last)), last, unit, core.rounds_terms);
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].significand != 0 && b[i].significand != 0) {
      sum += align(std::int64_t{a[i].significand} * b[i].significand,
                   a[i].exponent + b[i].exponent - product_bits, unit, core.rounds_terms);
    }
  }
  return to_fp32(sum, unit, core.rounds_result);
}

}  // namespace

Piece to_piece(float value, Precision precision) {
  if (value == 0.0f) {
    return {};
  }
  const PieceType type = type_of(precision);
  int exponent = std::max(std::ilogb(value), type.least_exponent);
  double significand = std::nearbyint(std::ldexp(static_cast<double>(value), type.fraction_bits - exponent));
  if (std::fabs(significand) == static_cast<double>(2 << type.fraction_bits)) {
    significand /= 2.0;
    ++exponent;
  }
  return {static_cast<std::int32_t>(significand), exponent};
}

float to_float(const Piece& piece, Precision precision) {
  return std::ldexp(static_cast<float>(piece.significand), piece.exponent - type_of(precision).fraction_bits);
}

float add_products(float acc, std::span<const Piece> a, std::span<const Piece> b, Precision precision,
                   const TensorCore& core) {
  const auto block = static_cast<std::size_t>(core.block);
  for (std::size_t i = 0; i < a.size(); i += block) {
    const std::size_t count = std::min(block, a.size() - i);
    acc =
        add_block(acc, a.subspan(i, count), b.subspan(i, count), 2 * type_of(precision).fraction_bits, core);
  }
  return acc;
}

}  // namespace duogemm
