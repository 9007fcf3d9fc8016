#include "check/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <thread>

namespace duogemm {
namespace {

float draw(Distribution distribution, std::mt19937& engine) {
  // The middle of one of 2^23 equal steps of (0, 1).
  const auto unit = [&] { return (static_cast<float>(engine() >> 9) + 0.5f) * 0x1p-23f; };
  switch (distribution) {
    case Distribution::integers:
      return static_cast<float>(static_cast<int>(engine() % 17) - 8);
    case Distribution::signed_unit:
      return 2.0f * unit() - 1.0f;
    case Distribution::unit:
      return unit();
    case Distribution::wide_range: {
      const int exponent = static_cast<int>(engine() % 41) - 20;
      return std::ldexp(2.0f * unit() - 1.0f, exponent);
    }
  }
  return 0.0f;
}

// A matrix as it is stored.
struct Form {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;

  std::int64_t extent() const { return rows == 0 || cols == 0 ? 0 : ld * (cols - 1) + rows; }
};

std::vector<std::int64_t> places_of(const Problem& problem, std::int64_t stride, const Form& form) {
  std::vector<std::int64_t> places;
  for (std::int64_t member = 0; member < problem.batch; ++member) {
    const std::int64_t later = problem.batch - 1 - member;
    places.push_back(problem.batch_by == BatchBy::strides ? member * stride
                                                          : later * (form.extent() + 1 + later));
  }
  return places;
}

// Unless they are filled, all is NaN.
std::vector<float> matrices(const Form& form, const std::vector<std::int64_t>& places, std::uint32_t tag,
                            bool filled, const std::function<float()>& next) {
  const std::int64_t last = places.empty() ? 0 : *std::max_element(places.begin(), places.end());
  std::vector<float> array(static_cast<std::size_t>(last + form.extent()));
  for (std::size_t i = 0; i < array.size(); ++i) {
    array[i] = tagged_nan(tag, i);
  }
  for (std::int64_t place : places) {
    for (std::int64_t i = 0; filled && i < form.rows * form.cols; ++i) {
      array[static_cast<std::size_t>(place + i / form.rows * form.ld + i % form.rows)] = next();
    }
  }
  return array;
}

}  // namespace

HostProblem random_problem(const Problem& problem, Distribution distribution, std::uint32_t seed) {
  std::mt19937 engine(seed);
  const auto next = [&] { return draw(distribution, engine); };
  const Form a{problem.a_rows(), problem.a_cols(), problem.lda};
  const Form b{problem.b_rows(), problem.b_cols(), problem.ldb};
  const Form c{problem.m, problem.n, problem.ldc};
  HostProblem host{problem, {}, {}, {}, {}, {}, {}};
  host.a_places = places_of(problem, problem.a_stride, a);
  host.b_places = places_of(problem, problem.b_stride, b);
  host.c_places = places_of(problem, problem.c_stride, c);
  host.a = matrices(a, host.a_places, 1, true, next);
  host.b = matrices(b, host.b_places, 2, true, next);
  host.c = matrices(c, host.c_places, 3, problem.beta != 0.0f, next);
  return host;
}

std::vector<float> gather(std::span<const float> x, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                          Transpose op) {
  std::vector<float> packed(static_cast<std::size_t>(rows * cols));
  for (std::int64_t col = 0; col < cols; ++col) {
    for (std::int64_t row = 0; row < rows; ++row) {
      packed[static_cast<std::size_t>(col * rows + row)] =
          x[static_cast<std::size_t>(op == Transpose::no ? col * ld + row : row * ld + col)];
    }
  }
  return packed;
}

float tagged_nan(std::uint32_t tag, std::size_t index) {
  return std::bit_cast<float>(0x7fc00000u | tag << 19 | (static_cast<std::uint32_t>(index) & 0x7ffffu));
}

const TestData& test_data() {
  static const TestData data = [] {
    const auto random = [](std::uint32_t seed) {
      return random_problem(Problem::packed(TestData::period, 1, 1), Distribution::signed_unit, seed);
    };
    return TestData{random(1).a, random(2).a, random(3).a, random(1).c};
  }();
  return data;
}

void in_parts(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& work) {
  const std::int64_t threads = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, count);
  std::vector<std::jthread> pool;
  for (std::int64_t t = 0; t < threads; ++t) {
    pool.emplace_back(
        [&work, from = count * t / threads, to = count * (t + 1) / threads] { work(from, to); });
  }
}

}  // namespace duogemm
