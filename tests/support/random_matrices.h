// Matrices as mathematics has them, the forms in which a call takes them, and random ones of both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "ladder/ladder.h"

namespace duogemm::testing {

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

inline std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// A matrix as mathematics has it: how it is stored for a call is the Form's matter.
struct Matrix {
  std::int64_t rows;
  std::int64_t cols;
  std::vector<float> values;  // column-major, packed

  Matrix(std::int64_t row_count, std::int64_t col_count, float fill = nan)
      : rows(row_count), cols(col_count), values(index(row_count * col_count), fill) {}

  float& operator()(std::int64_t row, std::int64_t col) { return values[index(col * rows + row)]; }
  float operator()(std::int64_t row, std::int64_t col) const { return values[index(col * rows + row)]; }
};

// The matrix whose element (row, col) is element(row, col).
template <typename Element>
Matrix generate(std::int64_t rows, std::int64_t cols, const Element& element) {
  Matrix matrix(rows, cols);
  for (std::int64_t col = 0; col < cols; ++col) {
    for (std::int64_t row = 0; row < rows; ++row) {
      matrix(row, col) = element(row, col);
    }
  }
  return matrix;
}

inline ::testing::AssertionResult same_bits(const Matrix& got, const Matrix& wanted) {
  for (std::int64_t col = 0; col < wanted.cols; ++col) {
    for (std::int64_t row = 0; row < wanted.rows; ++row) {
      const float a = got(row, col);
      const float b = wanted(row, col);
      if (std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b)) {
        return ::testing::AssertionFailure() << wanted.rows << " x " << wanted.cols << ", at (" << row << ", "
                                             << col << "): " << a << " instead of " << b;
      }
    }
  }
  return ::testing::AssertionSuccess();
}

// How a call is put to the library: which of the equivalent ways to store the same matrices. Gaps are what a
// leading dimension has above the least.
struct Form {
  Layout layout = Layout::column_major;
  Transpose a_op = Transpose::no;
  Transpose b_op = Transpose::no;
  std::int64_t gap = 0;
  Reproducibility level = Reproducibility::everywhere;
  Precision precision = Precision::fp32;

  bool a_by_columns() const { return (layout == Layout::column_major) == (a_op == Transpose::no); }
  bool b_by_columns() const { return (layout == Layout::column_major) == (b_op == Transpose::no); }
  bool c_by_columns() const { return layout == Layout::column_major; }
};

// A matrix in a caller's memory, with NaN in the gaps.
struct Stored {
  bool by_columns;
  std::int64_t ld;
  std::vector<float> memory;

  Stored(const Matrix& matrix, bool stored_by_columns, std::int64_t gap)
      : by_columns(stored_by_columns),
        ld(std::max<std::int64_t>(1, by_columns ? matrix.rows : matrix.cols) + gap),
        memory(index(ld * (by_columns ? matrix.cols : matrix.rows)), nan) {
    for (std::int64_t col = 0; col < matrix.cols; ++col) {
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        memory[place(row, col)] = matrix(row, col);
      }
    }
  }
  std::size_t place(std::int64_t row, std::int64_t col) const {
    return index(by_columns ? col * ld + row : row * ld + col);
  }
};

struct Scalars {
  float alpha = 1.0f;
  float beta = 0.0f;
};

// alpha a b + beta c, where a and b are what op() makes of the caller's matrices.
inline Matrix multiply(Context& context, const Form& form, const Matrix& a, const Matrix& b, Scalars scalars,
                       const Matrix& c) {
  const Stored stored_a(a, form.a_by_columns(), form.gap);
  const Stored stored_b(b, form.b_by_columns(), form.gap);
  Stored stored_c(c, form.c_by_columns(), form.gap);
  const Sgemm request{.layout = form.layout,
                      .a_op = form.a_op,
                      .b_op = form.b_op,
                      .m = a.rows,
                      .n = b.cols,
                      .k = a.cols,
                      .alpha = scalars.alpha,
                      .beta = scalars.beta,
                      .lda = stored_a.ld,
                      .ldb = stored_b.ld,
                      .ldc = stored_c.ld,
                      .level = form.level,
                      .precision = form.precision};
  context.sgemm(request, stored_a.memory.data(), stored_b.memory.data(), stored_c.memory.data());
  return generate(c.rows, c.cols,
                  [&](auto row, auto col) { return stored_c.memory[stored_c.place(row, col)]; });
}

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint32_t>(high - low + 1));
  }
  bool chance(int of) { return between(1, of) == 1; }
  float sign() { return chance(2) ? -1.0f : 1.0f; }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }

  // At times large enough for the kernels that take over there.
  Shape shape() {
    return chance(60) ? Shape{between(1024, 1060), between(1024, 1060), between(1, 20)}
                      : Shape{size(), size(), size()};
  }
  std::int64_t size() { return one_of<std::int64_t>({1, 2, 15, 16, 17, 63, 64, 65, between(1, 100)}); }
  // For properties that neither an order of summation nor a precision can break.
  Form any_form() {
    Form form{one_of({Layout::column_major, Layout::row_major}),
              one_of({Transpose::no, Transpose::yes}),
              one_of({Transpose::no, Transpose::yes}),
              between(0, 3),
              one_of({Reproducibility::run_to_run, Reproducibility::everywhere}),
              Precision::fp32};
    if (form.level == Reproducibility::run_to_run) {
      form.precision = one_of({Precision::fp32, Precision::bf16x6, Precision::f16x3});
    }
    return form;
  }

  Matrix integers(std::int64_t rows, std::int64_t cols, int exponent = 0) {
    return generate(rows, cols,
                    [&](auto, auto) { return std::ldexp(static_cast<float>(between(-8, 8)), exponent); });
  }
  // Of many magnitudes, so that every change in the order of a sum shows; no zeros.
  Matrix floats(std::int64_t rows, std::int64_t cols) {
    return generate(rows, cols, [&](auto, auto) {
      return sign() * std::ldexp(static_cast<float>(between(1 << 23, (1 << 24) - 1)),
                                 static_cast<int>(between(-32, -22)));
    });
  }

 private:
  std::mt19937 engine_;
};

}  // namespace duogemm::testing
