#include "check/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
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

// The end of splitmix64: each bit of the answer depends on each bit of the number.
std::uint64_t mix(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
  number = (number ^ number >> 27) * 0x94d049bb133111ebu;
  return number ^ number >> 31;
}

// Uniform on (0, 1): numbers that are independent of each other, of either operand and one draw after
// another.
double uniform(const Place& place, Factor of, std::uint64_t draw = 0) {
  const std::uint64_t stream = 2 * draw + (of == Factor::a ? 0 : 1);
  const std::uint64_t bits =
      mix(mix(stream << 32 ^ static_cast<std::uint64_t>(place.line)) ^ static_cast<std::uint64_t>(place.p));
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

double signed_unit(const Place& place, Factor of) { return 2.0 * uniform(place, of) - 1.0; }

double normal(const Place& place, Factor of) {
  return std::sqrt(-2.0 * std::log(uniform(place, of))) *
         std::cos(2.0 * std::numbers::pi * uniform(place, of, 1));
}

double log_normal(const Place& place, Factor of) { return std::exp(2.0 * normal(place, of)); }

// From 2^first on, so many exponents.
double exponents(const Place& place, Factor of, int first, int count) {
  const int exponent = first + static_cast<int>(count * uniform(place, of, 1));
  return std::ldexp(signed_unit(place, of), exponent);
}

// Each line has a size of its own: from 2^-40 to 2^40.
double graded(const Place& place, Factor of) {
  const auto last = static_cast<double>(place.lines > 1 ? place.lines - 1 : 1);
  const int exponent = static_cast<int>(std::lround(80.0 * static_cast<double>(place.line) / last)) - 40;
  return std::ldexp(signed_unit(place, of), exponent);
}

// The second half of k has A of the first half, and of B its negative: every sum is zero. A last odd k is
// left out.
double cancelling(const Place& place, Factor of) {
  const std::int64_t half = place.k / 2;
  if (place.p >= 2 * half) {
    return 0.0;
  }
  const double value = signed_unit({place.line, place.lines, place.p % half, place.k}, of);
  return place.p >= half && of == Factor::b ? -value : value;
}

double integer(const Place& place, Factor of) { return std::floor(17.0 * uniform(place, of)) - 8.0; }

// Neighbours in k differ by 2^60, those of B the other way round: every product counts.
double adversarial(const Place& place, Factor of) {
  const bool large = (place.p % 2 == 0) == (of == Factor::a);
  return std::ldexp(signed_unit(place, of), large ? 30 : -30);
}

std::vector<float> make(std::int64_t count, const std::function<double(std::int64_t)>& element) {
  std::vector<float> matrix(static_cast<std::size_t>(count));
  in_parts(count, 16, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      matrix[static_cast<std::size_t>(i)] = static_cast<float>(element(i));
    }
  });
  return matrix;
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

const std::vector<InputClass>& input_classes() {
  static const std::vector<InputClass> classes = {
      {"signed_unit", "uniform on (-1, 1)", signed_unit},
      {"unit", "uniform on (0, 1)", [](const Place& place, Factor of) { return uniform(place, of); }},
      {"normal", "normal", normal},
      {"log_normal", "e to twice a normal", log_normal},
      {"exponents_40", "exponents over 2^40",
       [](const Place& place, Factor of) { return exponents(place, of, -20, 41); }},
      {"exponents_80", "exponents over 2^80",
       [](const Place& place, Factor of) { return exponents(place, of, -40, 81); }},
      {"graded", "rows and columns over 2^80", graded},
      {"cancelling", "halves that cancel", cancelling},
      {"constants", "1/3 and 1/7", [](const Place&, Factor of) { return 1.0 / (of == Factor::a ? 3 : 7); }},
      {"integers", "whole numbers up to 8", integer, true},
      {"hilbert", "1 / (i + j + 1)",
       [](const Place& place, Factor) { return 1.0 / static_cast<double>(place.line + place.p + 1); }},
      {"denormals", "denormals times 2^100",
       [](const Place& place, Factor of) { return exponents(place, of, of == Factor::a ? -126 : 100, 1); }},
      {"huge_and_tiny", "2^112 to 2^125 times the reciprocals",
       [](const Place& place, Factor of) { return exponents(place, of, of == Factor::a ? 112 : -125, 14); }},
      {"adversarial", "neighbours 2^60 apart", adversarial},
  };
  return classes;
}

std::vector<float> make_a(const InputClass& input, std::int64_t m, std::int64_t k) {
  return make(m * k, [&](std::int64_t i) { return input.element({i % m, m, i / m, k}, Factor::a); });
}

std::vector<float> make_b(const InputClass& input, std::int64_t k, std::int64_t n) {
  return make(k * n, [&](std::int64_t i) { return input.element({i / k, n, i % k, k}, Factor::b); });
}

void in_parts(std::int64_t count, std::int64_t steps,
              const std::function<void(std::int64_t, std::int64_t)>& work) {
  constexpr std::int64_t steps_of_thread = 1 << 16;  // tens of microseconds, as it takes to start one
  const std::int64_t worth = count * steps / steps_of_thread;
  const std::int64_t threads =
      std::max<std::int64_t>(1, std::min<std::int64_t>({std::thread::hardware_concurrency(), count, worth}));
  std::vector<std::jthread> others;
  for (std::int64_t t = 1; t < threads; ++t) {
    others.emplace_back(
        [&work, from = count * t / threads, to = count * (t + 1) / threads] { work(from, to); });
  }
  work(0, count / threads);
}

}  // namespace duogemm
