#include "tensor_oracle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "check/inputs.h"
#include "draw.h"
#include "problem/rounding.h"

namespace duogemm::testing {
namespace {

// NVIDIA documents nothing of how its tensor cores add up. This is the model of MMA-Sim (Xie, Wang, Yang and
// Yang, arXiv:2511.10909): exact products and the accumulator are aligned to the largest exponent among them,
// cut off there, added, and the sum is cut off to FP32. The figures are those for compute capability 9.0.
constexpr std::size_t products_at_once = 16;
constexpr int sum_bits = 25;  // that the largest of them keeps, and the others down to its last

// FP16 or BF16.
struct TermType {
  int fraction_bits;
  int least_exponent;
};
constexpr TermType type_of(Precision precision) {
  return precision == Precision::f16x3 ? TermType{10, -14} : TermType{7, -126};
}

// That of the leading bit of a number that is not zero, or the least of its type.
int exponent_of(float value, int least) {
  return std::max(static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 23 & 0xff) - 127, least);
}

// The nearest number of a type, which must not overflow.
float to_term(float value, const TermType& type) {
  const int unit = exponent_of(value, type.least_exponent) - type.fraction_bits;
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

float add_block(float acc, std::span<const float> a, std::span<const float> b, int least_exponent) {
  constexpr int none = -10000;
  int largest = acc == 0.0f ? none : exponent_of(acc, -126);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != 0.0f && b[i] != 0.0f) {
      largest = std::max(largest, exponent_of(a[i], least_exponent) + exponent_of(b[i], least_exponent));
    }
  }
  if (largest == none) {
    return acc;
  }
  const int unit = largest - sum_bits;
  const double per_unit = std::ldexp(1.0, -unit);
  double sum = std::trunc(double{acc} * per_unit);
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::trunc(double{a[i]} * double{b[i]} * per_unit);
  }
  const double exact = std::ldexp(sum, unit) + 0.0;  // no zero is negative
  const auto nearest = static_cast<float>(exact);
  return std::fabs(double{nearest}) > std::fabs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
}

// acc + a[0] b[0] + a[1] b[1] + ..., in blocks one after the other.
float add_products(float acc, std::span<const float> a, std::span<const float> b, Precision precision) {
  for (std::size_t i = 0; i < a.size(); i += products_at_once) {
    const std::size_t count = std::min(products_at_once, a.size() - i);
    acc = add_block(acc, a.subspan(i, count), b.subspan(i, count), type_of(precision).least_exponent);
  }
  return acc;
}

// kernels/gemm/tensor/ says this of them, too: an oracle that read it there would see no fault in it.
constexpr int largest_exponent = 14;   // of the values of a block, when they are scaled
constexpr int farthest_exponent = 48;  // of those that are
constexpr std::int64_t panel = 128;
constexpr std::size_t chain_length = 128;  // multiply-adds of a chain where FP32 computes
constexpr std::size_t chains_of_block = 16;

struct Splitting {
  int terms;
  float next_scale;  // how many times as large as it is the next term is kept
  float tolerance;   // terms may miss this of a value, relative to it
};
Splitting splitting_of(Precision precision) {
  return precision == Precision::bf16x6 ? Splitting{3, 1.0f, 0.0f} : Splitting{2, 2048.0f, 0x1p-23f};
}

// The products of terms of A and B that are added up in one accumulator, in this order, and what its sum is
// multiplied by besides the scales.
struct Accumulation {
  std::vector<std::pair<int, int>> products;
  float scale;
};
std::vector<Accumulation> accumulations_of(Precision precision) {
  if (precision == Precision::bf16x6) {
    return {{{{0, 2}, {1, 1}, {2, 0}, {0, 1}, {1, 0}, {0, 0}}, 1.0f}};
  }
  return {{{{0, 1}, {1, 0}}, 1.0f / 2048.0f}, {{{0, 0}}, 1.0f}};
}

// An operand, m of A or n of B by k, in terms.
class OperandTerms {
 public:
  // values: k after each other.
  OperandTerms(const std::vector<float>& values, std::int64_t rows, std::int64_t k,
               const TensorProduct& product)
      : rows_(rows),
        k_(k),
        depth_(product.depth),
        blocks_(ceil_div(k, depth_)),
        precision_(product.precision),
        splitting_(splitting_of(product.precision)),
        values_(values) {
    scales_.resize(index(ceil_div(rows, panel) * blocks_));
    for (std::vector<float>& terms : terms_) {
      terms.resize(values.size());
    }
    in_parts(ceil_div(rows, panel), 8 * panel * k, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        for (std::int64_t block = 0; block < blocks_; ++block) {
          scales_[index(i * blocks_ + block)] = split(i, block);
        }
      }
    });
  }

  std::int64_t blocks() const { return blocks_; }
  std::span<const float> row(std::int64_t row) const {
    return std::span(values_).subspan(index(row * k_), index(k_));
  }
  std::span<const float> terms(int term, std::int64_t row, std::int64_t block) const {
    const std::int64_t first = block * depth_;
    return std::span(terms_[index(term)])
        .subspan(index(row * k_ + first), index(std::min(depth_, k_ - first)));
  }
  float scale(std::int64_t row, std::int64_t block) const {
    return scales_[index(row / panel * blocks_ + block)];
  }
  // Says whether terms are exact in `count` panels, as far as there are this many.
  bool holds(std::int64_t first_panel, std::int64_t count) const {
    const auto begin = scales_.begin() + first_panel * blocks_;
    const auto end = scales_.begin() + std::min(first_panel + count, ceil_div(rows_, panel)) * blocks_;
    return std::none_of(begin, end, [](float scale) { return std::isnan(scale); });
  }

 private:
  template <typename Visit>
  void each_value(std::int64_t of_panel, std::int64_t block, const Visit& visit) {
    for (std::int64_t row = of_panel * panel; row < std::min((of_panel + 1) * panel, rows_); ++row) {
      for (std::int64_t k = block * depth_; k < std::min((block + 1) * depth_, k_); ++k) {
        visit(index(row * k_ + k));
      }
    }
  }

  // Answers the block's scale, or NaN.
  float split(std::int64_t of_panel, std::int64_t block) {
    float most = 0.0f;
    bool finite = true;
    each_value(of_panel, block, [&](std::size_t at) {
      finite = finite && std::isfinite(values_[at]);
      most = std::max(most, std::fabs(values_[at]));
    });
    const int exponent = most == 0.0f ? largest_exponent : finite ? std::ilogb(most) : farthest_exponent;
    if (exponent < -farthest_exponent || exponent >= farthest_exponent) {
      return nan;
    }
    bool holds = true;
    each_value(of_panel, block,
               [&](std::size_t at) { holds = split_value(at, largest_exponent - exponent) && holds; });
    return holds ? std::ldexp(1.0f, exponent - largest_exponent) : nan;
  }

  // Answers whether the terms hold the value.
  bool split_value(std::size_t at, int exponent) {
    const float scaled = std::ldexp(values_[at], exponent);
    float left = scaled;
    float unit = 1.0f;
    for (int term = 0; term < splitting_.terms; ++term) {
      if (term > 0) {
        left *= splitting_.next_scale;
        unit *= splitting_.next_scale;
      }
      float& to = terms_[index(term)][at];
      to = to_term(left, type_of(precision_));
      left -= to;
    }
    const bool lost =
        exponent < 0 && values_[at] != 0.0f && std::fabs(scaled) < 0x1p-126f;  // some bits of it
    return !lost && std::fabs(left) <= std::fabs(scaled) * (splitting_.tolerance * unit);
  }

  std::int64_t rows_, k_, depth_, blocks_;
  Precision precision_;
  Splitting splitting_;
  std::vector<float> values_;
  std::vector<float> scales_;
  std::array<std::vector<float>, 3> terms_;
};

class Product {
 public:
  Product(const OperandTerms& a, const OperandTerms& b, const TensorProduct& product)
      : a_(a), b_(b), product_(product), accumulations_(accumulations_of(product.precision)) {}

  float sum(std::int64_t i, std::int64_t j) const {
    const std::int64_t first_panel = i / product_.tile_m * product_.tile_m / panel;
    if (!a_.holds(first_panel, ceil_div(product_.tile_m, panel)) || !b_.holds(j / panel, 1)) {
      return sum_in_fp32(i, j);
    }
    const std::int64_t length = ceil_div(a_.blocks(), product_.splits);
    float all = sum_of_blocks(i, j, 0, std::min(length, a_.blocks()));
    for (std::int64_t first = length; first < a_.blocks(); first += length) {
      all += sum_of_blocks(i, j, first, std::min(first + length, a_.blocks()));
    }
    return all;
  }

 private:
  float sum_of_blocks(std::int64_t i, std::int64_t j, std::int64_t from, std::int64_t to) const {
    float sum = 0.0f;
    for (std::int64_t block = from; block < to; ++block) {
      const float scale = a_.scale(i, block) * b_.scale(j, block);
      for (const Accumulation& accumulation : accumulations_) {
        float acc = 0.0f;
        for (const auto& [of_a, of_b] : accumulation.products) {
          acc = add_products(acc, a_.terms(of_a, i, block), b_.terms(of_b, j, block), product_.precision);
        }
        sum = std::fma(acc, scale * accumulation.scale, sum);
      }
    }
    return sum;
  }

  // Chains of multiply-adds, of which chains_of_block are added up by themselves.
  float sum_in_fp32(std::int64_t i, std::int64_t j) const {
    const std::span<const float> a = a_.row(i);
    const std::span<const float> b = b_.row(j);
    float all = 0.0f;
    float of_block = 0.0f;
    float chain = 0.0f;
    for (std::size_t k = 0; k < a.size(); ++k) {
      chain = std::fma(a[k], b[k], chain);
      if ((k + 1) % chain_length == 0) {
        of_block += chain;
        chain = 0.0f;
      }
      if ((k + 1) % (chains_of_block * chain_length) == 0) {
        all += of_block;
        of_block = 0.0f;
      }
    }
    return chain + of_block + all;
  }

  const OperandTerms& a_;
  const OperandTerms& b_;
  TensorProduct product_;
  std::vector<Accumulation> accumulations_;
};

Transpose other(Transpose op) { return op == Transpose::no ? Transpose::yes : Transpose::no; }

}  // namespace

std::vector<float> multiply_in_terms(const Problem& p, std::span<const float> a, std::span<const float> b,
                                     std::span<const float> c, const TensorProduct& product) {
  const OperandTerms of_a(gather(a, p.k, p.m, p.lda, other(p.a_op)), p.m, p.k, product);
  const OperandTerms of_b(gather(b, p.k, p.n, p.ldb, p.b_op), p.n, p.k, product);
  const Product sums(of_a, of_b, product);
  std::vector<float> result(index(p.m * p.n));
  in_parts(p.n, 8 * p.m * p.k, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t j = from; j < to; ++j) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        const float sum = sums.sum(i, j);
        result[index(j * p.m + i)] =
            p.beta == 0.0f ? p.alpha * sum : std::fma(p.alpha, sum, p.beta * c[index(j * p.ldc + i)]);
      }
    }
  });
  return result;
}

}  // namespace duogemm::testing
