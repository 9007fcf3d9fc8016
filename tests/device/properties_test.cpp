// Properties of the call on host memory that hold bit for bit, on random problems on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "context_test.h"
#include "random_matrices.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

class Properties : public ContextTest {
 protected:
  // Runs the property on many random problems, until the first that fails; its seed is printed.
  template <typename Property>
  void for_many(std::uint32_t count, const Property& property) {
    for (std::uint32_t seed = 0; seed < count && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Draw draw(seed);
      property(draw);
    }
  }

  Matrix multiply(const Form& form, const Matrix& a, const Matrix& b, Scalars scalars, const Matrix& c) {
    return testing::multiply(*context_, form, a, b, scalars, c);
  }
};

// --- Exact arithmetic ------------------------------------------------------------------------------------

// The whole numbers that a matrix has times 2^exponent.
std::vector<std::int64_t> whole_numbers(const Matrix& matrix, int exponent) {
  std::vector<std::int64_t> numbers;
  for (float value : matrix.values) {
    numbers.push_back(static_cast<std::int64_t>(std::ldexp(value, -exponent)));
  }
  return numbers;
}

// The sum is done in integers, and the last step is exact in float, where it also gives a zero its sign.
Matrix exact_result(const Matrix& a, int a_exponent, const Matrix& b, int b_exponent, Scalars scalars,
                    const Matrix& c) {
  const std::vector<std::int64_t> whole_a = whole_numbers(a, a_exponent);
  const std::vector<std::int64_t> whole_b = whole_numbers(b, b_exponent);
  return generate(c.rows, c.cols, [&](auto row, auto col) {
    if (scalars.alpha == 0.0f) {
      return scalars.beta == 0.0f ? 0.0f : scalars.beta * c(row, col);
    }
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < a.cols; ++k) {
      sum += whole_a[index(k * a.rows + row)] * whole_b[index(col * b.rows + k)];
    }
    const float scaled_sum = std::ldexp(static_cast<float>(sum), a_exponent + b_exponent);
    return scalars.beta == 0.0f ? scalars.alpha * scaled_sum
                                : std::fma(scalars.alpha, scaled_sum, scalars.beta * c(row, col));
  });
}

struct Exponents {
  int a = 0;
  int b = 0;
  int alpha = 0;
  int c() const { return a + b + alpha; }
};

TEST_P(Properties, IntegersAreExact) {
  for_many(400, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.integers(m, k);
    const Matrix b = draw.integers(k, n);
    const Matrix c = draw.integers(m, n);
    const Scalars scalars{draw.one_of({-1.0f, 0.0f, 1.0f, 2.0f}), draw.one_of({-1.0f, 0.0f, 1.0f, 2.0f})};
    EXPECT_TRUE(same_bits(multiply(draw.any_form(), a, b, scalars, c), exact_result(a, 0, b, 0, scalars, c)));
  });
}

// Sums, scaled sums and operands are multiples of the smallest denormal: flushing any of them shows.
TEST_P(Properties, DenormalsAreKept) {
  for_many(300, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    Exponents exponents;
    exponents.alpha = static_cast<int>(draw.between(-20, 0));
    exponents.a = draw.one_of({0, -149 - exponents.alpha, static_cast<int>(draw.between(-100, -40))});
    exponents.b = -149 - exponents.alpha - exponents.a;
    const Matrix a = draw.integers(m, k, exponents.a);
    const Matrix b = draw.integers(k, n, exponents.b);
    const Matrix c = draw.integers(m, n, exponents.c());
    const Scalars scalars{std::ldexp(draw.one_of({-1.0f, 1.0f}), exponents.alpha),
                          draw.one_of({-1.0f, 0.0f, 1.0f, 2.0f})};
    EXPECT_TRUE(same_bits(multiply(draw.any_form(), a, b, scalars, c),
                          exact_result(a, exponents.a, b, exponents.b, scalars, c)));
  });
}

// --- Values that are no numbers --------------------------------------------------------------------------

// As netlib's SGEMM with transposed A has it.
Matrix reference(const Matrix& a, const Matrix& b, Scalars scalars, const Matrix& c) {
  return generate(c.rows, c.cols, [&](auto row, auto col) {
    if (scalars.alpha == 0.0f) {
      return scalars.beta == 0.0f ? 0.0f : scalars.beta * c(row, col);
    }
    float sum = 0.0f;
    for (std::int64_t k = 0; k < a.cols; ++k) {
      sum += a(row, k) * b(k, col);
    }
    return scalars.beta == 0.0f ? scalars.alpha * sum : scalars.alpha * sum + scalars.beta * c(row, col);
  });
}

// A NaN, either infinity, or 0 for all that is finite.
float kind(float value) { return std::isfinite(value) ? 0.0f : std::isnan(value) ? nan : value; }

Matrix kinds(const Matrix& matrix) {
  return generate(matrix.rows, matrix.cols, [&](auto row, auto col) { return kind(matrix(row, col)); });
}

void spoil(Draw& draw, Matrix& matrix) {
  for (std::int64_t i = draw.between(0, 3); i > 0; --i) {
    matrix(draw.between(0, matrix.rows - 1), draw.between(0, matrix.cols - 1)) =
        draw.one_of({nan, infinity, -infinity});
  }
}

TEST_P(Properties, NanAndInfinitySpreadAsInTheReference) {
  for_many(400, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    Matrix a = draw.integers(m, k);  // with zeros, which make a NaN of an infinity
    Matrix b = draw.integers(k, n);
    Matrix c = draw.integers(m, n);
    for (Matrix* matrix : {&a, &b, &c}) {
      spoil(draw, *matrix);
    }
    const Scalars scalars{draw.one_of({0.0f, 1.0f, -1.0f, 2.5f}), draw.one_of({0.0f, 1.0f, -1.0f, 2.5f})};
    EXPECT_TRUE(
        same_bits(kinds(multiply(draw.any_form(), a, b, scalars, c)), kinds(reference(a, b, scalars, c))));
  });
}

// --- Shared and overlapping operands ---------------------------------------------------------------------

// Sgemm of packed column-major matrices.
Sgemm packed(const Shape& shape) {
  return {.m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .lda = shape.m,
          .ldb = shape.k,
          .ldc = shape.m,
          .level = Reproducibility::everywhere};
}

TEST_P(Properties, AAndBMayOverlap) {
  for_many(300, [&](Draw& draw) {
    const Shape shape{draw.size(), draw.size(), draw.size()};
    const std::int64_t a_elements = shape.m * shape.k;
    const std::int64_t b_elements = shape.k * shape.n;
    const std::int64_t b_begin = draw.chance(4) ? 0 : draw.between(0, a_elements - 1);  // within A
    const Matrix memory = draw.floats(1, std::max(a_elements, b_begin + b_elements));
    const float* a = memory.values.data();
    const float* b = a + b_begin;
    const std::vector<float> a_apart(a, a + a_elements);
    const std::vector<float> b_apart(b, b + b_elements);
    Matrix together(shape.m, shape.n);
    Matrix apart(shape.m, shape.n);
    context_->sgemm(packed(shape), a, b, together.values.data());
    context_->sgemm(packed(shape), a_apart.data(), b_apart.data(), apart.values.data());
    EXPECT_TRUE(same_bits(together, apart));
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Properties, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

}  // namespace
}  // namespace duogemm::testing
