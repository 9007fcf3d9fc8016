#include "check/input_classes.h"

#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>

#include "check/inputs.h"

namespace duogemm::bench {
namespace {

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
  in_parts(count, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      matrix[static_cast<std::size_t>(i)] = static_cast<float>(element(i));
    }
  });
  return matrix;
}

}  // namespace

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

}  // namespace duogemm::bench
