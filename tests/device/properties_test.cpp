// Properties of the call on host memory that hold bit for bit, on random problems on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

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

  Matrix product(const Form& form, const Matrix& a, const Matrix& b) {
    return testing::product(*context_, form, a, b);
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

// --- Algebra ---------------------------------------------------------------------------------------------

// Two pieces of FP16 are two bits short of an FP32 number.
TEST_P(Properties, IdentityGivesTheOther) {
  for_many(300, [&](Draw& draw) {
    const std::int64_t m = draw.size();
    const std::int64_t n = draw.size();
    const auto identity = [](auto row, auto col) { return row == col ? 1.0f : 0.0f; };
    const Matrix any = draw.floats(m, n);
    EXPECT_TRUE(same_bits(product(draw.fp32_form(), any, generate(n, n, identity)), any));
    EXPECT_TRUE(same_bits(product(draw.fp32_form(), generate(m, m, identity), any), any));
  });
}

TEST_P(Properties, PermutedRowsAndColumnsArePermutedInC) {
  for_many(300, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.floats(m, k);
    const Matrix b = draw.floats(k, n);
    const std::vector<std::int64_t> rows = draw.permutation(m);
    const std::vector<std::int64_t> cols = draw.permutation(n);
    const Form form = draw.reproducible_form();
    const Matrix plain = product(form, a, b);
    const Matrix permuted =
        product(form, generate(m, k, [&](auto row, auto col) { return a(rows[index(row)], col); }),
                generate(k, n, [&](auto row, auto col) { return b(row, cols[index(col)]); }));
    EXPECT_TRUE(same_bits(permuted, generate(m, n, [&](auto row, auto col) {
                            return plain(rows[index(row)], cols[index(col)]);
                          })));
  });
}

TEST_P(Properties, DoublingADoublesC) {
  for_many(300, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.floats(m, k);
    const Matrix b = draw.floats(k, n);
    const Form form = draw.any_form();
    const auto twice = [](const Matrix& matrix) {
      return generate(matrix.rows, matrix.cols, [&](auto row, auto col) { return 2.0f * matrix(row, col); });
    };
    EXPECT_TRUE(same_bits(product(form, twice(a), b), twice(product(form, a, b))));
  });
}

TEST_P(Properties, ColumnsOfBAreIndependent) {
  for_many(300, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.floats(m, k);
    const Matrix b = draw.floats(k, n);
    const std::int64_t cut = draw.between(0, n);
    const Matrix whole = product(draw.reproducible_form(), a, b);
    const auto columns = [](const Matrix& from, std::int64_t begin, std::int64_t end) {
      return generate(from.rows, end - begin, [&](auto row, auto col) { return from(row, begin + col); });
    };
    for (const auto& [begin, end] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, n}}) {
      EXPECT_TRUE(same_bits(product(draw.reproducible_form(), a, columns(b, begin, end)),
                            columns(whole, begin, end)));
    }
  });
}

// --- Forms of the same call ------------------------------------------------------------------------------

TEST_P(Properties, EveryLayoutAndTransposeAgree) {
  for_many(200, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.floats(m, k);
    const Matrix b = draw.floats(k, n);
    const Matrix c = draw.floats(m, n);
    const Scalars scalars{0.7f, draw.one_of({0.0f, -1.3f})};
    const Matrix plain = multiply({}, a, b, scalars, c);
    for (Layout layout : {Layout::column_major, Layout::row_major}) {
      for (Transpose a_op : {Transpose::no, Transpose::yes}) {
        for (Transpose b_op : {Transpose::no, Transpose::yes}) {
          EXPECT_TRUE(same_bits(
              multiply({layout, a_op, b_op, draw.between(0, 3), Reproducibility::everywhere, Precision::fp32},
                       a, b, scalars, c),
              plain));
        }
      }
    }
  });
}

// C = op(A) op(B) in rows is C^T = op(B)^T op(A)^T in columns, on the same memory.
TEST_P(Properties, RowsAreColumnsOfTheTransposed) {
  for_many(200, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.floats(m, k);
    const Matrix b = draw.floats(k, n);
    Form form = draw.reproducible_form();
    form.layout = Layout::row_major;
    const Matrix by_rows = product(form, a, b);
    form.layout = Layout::column_major;
    std::swap(form.a_op, form.b_op);
    EXPECT_TRUE(same_bits(by_rows, transposed(product(form, transposed(b), transposed(a)))));
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

TEST_P(Properties, BetaZeroDoesNotReadC) {
  for_many(200, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.floats(m, k);
    const Matrix b = draw.floats(k, n);
    const Scalars scalars{draw.one_of({0.0f, 1.0f, -2.5f}), draw.one_of({0.0f, -0.0f})};
    const Form form = draw.any_form();
    const Matrix from_zeros = multiply(form, a, b, scalars, Matrix(m, n, 0.0f));
    for (float spoiled : {nan, infinity}) {
      // First leaves it in the device's memory, where no copy of C comes when beta is zero.
      multiply(form, a, b, {1.0f, 1.0f}, Matrix(m, n, spoiled));
      EXPECT_TRUE(same_bits(multiply(form, a, b, scalars, Matrix(m, n, spoiled)), from_zeros));
    }
  });
}

// --- The same again --------------------------------------------------------------------------------------

TEST_P(Properties, TheSameCallGivesTheSameBitsAlsoAtOnce) {
  for_many(100, [&](Draw& draw) {
    const auto [m, n, k] = draw.shape();
    const Matrix a = draw.floats(m, k);
    const Matrix b = draw.floats(k, n);
    const Matrix c = draw.floats(m, n);
    const Scalars scalars{0.7f, -1.3f};
    const Form form = draw.any_form();
    const Matrix first = multiply(form, a, b, scalars, c);
    EXPECT_TRUE(same_bits(multiply(form, a, b, scalars, c), first));
    std::vector<Matrix> results(4, Matrix(0, 0));
    {
      std::vector<std::jthread> threads;
      for (Matrix& result : results) {
        threads.emplace_back([&] { result = multiply(form, a, b, scalars, c); });
      }
    }
    for (const Matrix& result : results) {
      EXPECT_TRUE(same_bits(result, first));
    }
  });
}

// --- Shared and overlapping operands ---------------------------------------------------------------------

// Sgemm of packed column-major matrices.
Sgemm packed(const Shape& shape, std::int64_t batch = 1) {
  return {.m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .lda = shape.m,
          .ldb = shape.k,
          .ldc = shape.m,
          .batch = batch,
          .c_stride = shape.m * shape.n,
          .level = Reproducibility::everywhere};
}

TEST_P(Properties, ABatchMaySharePartsOfItsOperands) {
  for_many(300, [&](Draw& draw) {
    const Shape shape{draw.size(), draw.size(), draw.size()};
    const std::int64_t batch = draw.between(2, 4);
    Sgemm request = packed(shape, batch);
    request.a_stride = draw.chance(2) ? 0 : shape.m * shape.k;
    request.b_stride = draw.chance(2) ? 0 : shape.k * shape.n;
    const Matrix a = draw.floats(shape.m, shape.k * batch);
    const Matrix b = draw.floats(shape.k, shape.n * batch);
    Matrix c(shape.m, shape.n * batch);
    context_->sgemm(request, a.values.data(), b.values.data(), c.values.data());
    Matrix one_by_one(shape.m, shape.n * batch);
    for (std::int64_t i = 0; i < batch; ++i) {
      context_->sgemm(packed(shape), a.values.data() + i * request.a_stride,
                      b.values.data() + i * request.b_stride,
                      one_by_one.values.data() + i * request.c_stride);
    }
    EXPECT_TRUE(same_bits(c, one_by_one));
  });
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
