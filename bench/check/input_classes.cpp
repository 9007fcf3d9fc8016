#include "check/input_classes.h"

#include <cmath>
#include <cstddef>
#include <numbers>

#include "check/parallel.h"

namespace duogemm::bench {
namespace {

// The end of splitmix64: each bit of the answer depends on each bit of the number.
std::uint64_t mix(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
  number = (number ^ number >> 27) * 0x94d049bb133111ebu;
  return number ^ number >> 31;
}

// Uniform on (0, 1). Streams are independent of each other: A and B have even and odd ones.
double uniform(const Place& place, std::uint64_t stream) {
  const std::uint64_t bits =
      mix(mix(stream << 32 ^ static_cast<std::uint64_t>(place.line)) ^ static_cast<std::uint64_t>(place.p));
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

template <std::uint64_t stream>
double sign_and_size(const Place& place) {
  return 2.0 * uniform(place, stream) - 1.0;
}

template <std::uint64_t stream>
double standard_normal(const Place& place) {
  return std::sqrt(-2.0 * std::log(uniform(place, stream))) *
         std::cos(2.0 * std::numbers::pi * uniform(place, stream + 2));
}

template <std::uint64_t stream>
float signed_unit(const Place& place) {
  return static_cast<float>(sign_and_size<stream>(place));
}

template <std::uint64_t stream>
float unit(const Place& place) {
  return static_cast<float>(uniform(place, stream));
}

template <std::uint64_t stream>
float normal(const Place& place) {
  return static_cast<float>(standard_normal<stream>(place));
}

template <std::uint64_t stream>
float log_normal(const Place& place) {
  return static_cast<float>(std::exp(2.0 * standard_normal<stream>(place)));
}

// From 2^first on, so many exponents.
template <std::uint64_t stream, int first, int count>
float exponents(const Place& place) {
  const int exponent = first + static_cast<int>(count * uniform(place, stream + 2));
  return static_cast<float>(std::ldexp(sign_and_size<stream>(place), exponent));
}

// Each line has a size of its own: from 2^-40 to 2^40.
template <std::uint64_t stream>
float graded(const Place& place) {
  const auto last = static_cast<double>(place.lines > 1 ? place.lines - 1 : 1);
  const int exponent = static_cast<int>(std::lround(80.0 * static_cast<double>(place.line) / last)) - 40;
  return static_cast<float>(std::ldexp(sign_and_size<stream>(place), exponent));
}

// The second half of k has A of the first half, and of B its negative: every sum is zero. A last odd k is
// left out.
template <std::uint64_t stream, int factor>
float cancelling(const Place& place) {
  const std::int64_t half = place.k / 2;
  if (place.p >= 2 * half) {
    return 0.0f;
  }
  const Place in_first_half{place.line, place.lines, place.p % half, place.k};
  const float value = signed_unit<stream>(in_first_half);
  return place.p < half ? value : static_cast<float>(factor) * value;
}

template <int divisor>
float constant(const Place&) {
  return 1.0f / static_cast<float>(divisor);
}

template <std::uint64_t stream>
float integer(const Place& place) {
  return static_cast<float>(std::floor(17.0 * uniform(place, stream)) - 8.0);
}

float hilbert(const Place& place) { return 1.0f / static_cast<float>(place.line + place.p + 1); }

// Neighbours in k differ by 2^60, those of B the other way round: every product counts.
template <std::uint64_t stream, int odd>
float adversarial(const Place& place) {
  return static_cast<float>(std::ldexp(sign_and_size<stream>(place), place.p % 2 == odd ? 30 : -30));
}

}  // namespace

const std::vector<InputClass>& input_classes() {
  static const std::vector<InputClass> classes = {
      {"signed_unit", "uniform on (-1, 1)", signed_unit<0>, signed_unit<1>},
      {"unit", "uniform on (0, 1)", unit<0>, unit<1>},
      {"normal", "normal", normal<0>, normal<1>},
      {"log_normal", "e to twice a normal", log_normal<0>, log_normal<1>},
      {"exponents_40", "exponents over 2^40", exponents<0, -20, 41>, exponents<1, -20, 41>},
      {"exponents_80", "exponents over 2^80", exponents<0, -40, 81>, exponents<1, -40, 81>},
      {"graded", "rows and columns over 2^80", graded<0>, graded<1>},
      {"cancelling", "halves that cancel", cancelling<0, 1>, cancelling<1, -1>},
      {"constants", "1/3 and 1/7", constant<3>, constant<7>},
      {"integers", "whole numbers up to 8", integer<0>, integer<1>, true},
      {"hilbert", "1 / (i + j + 1)", hilbert, hilbert},
      {"denormals", "denormals times 2^100", exponents<0, -126, 1>, exponents<1, 100, 1>},
      {"huge_and_tiny", "2^112 to 2^125 times the reciprocals", exponents<0, 112, 14>,
       exponents<1, -125, 14>},
      {"adversarial", "neighbours 2^60 apart", adversarial<0, 0>, adversarial<1, 1>},
  };
  return classes;
}

std::vector<float> make_a(const InputClass& input, std::int64_t m, std::int64_t k) {
  std::vector<float> a(static_cast<std::size_t>(m * k));
  in_parts(k, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) {
      for (std::int64_t row = 0; row < m; ++row) {
        a[static_cast<std::size_t>(p * m + row)] = input.a({row, m, p, k});
      }
    }
  });
  return a;
}

std::vector<float> make_b(const InputClass& input, std::int64_t k, std::int64_t n) {
  std::vector<float> b(static_cast<std::size_t>(k * n));
  in_parts(n, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t col = from; col < to; ++col) {
      for (std::int64_t p = 0; p < k; ++p) {
        b[static_cast<std::size_t>(col * k + p)] = input.b({col, n, p, k});
      }
    }
  });
  return b;
}

}  // namespace duogemm::bench
