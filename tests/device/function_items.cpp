// Functions of one value.
#include <algorithm>
#include <cmath>
#include <functional>

#include "item.h"

namespace duogemm::testing {
namespace {

// One work-item for each x in `input`.
template <typename T, typename Host>
Item function(const std::string& name, const std::string& expression, const std::vector<T>& input, Host host,
              int ulps = 0) {
  std::vector<std::decay_t<decltype(host(input[0]))>> expected;
  for (T x : input) {
    expected.push_back(host(x));
  }
  const Words in(input);
  return {.name = name,
          .body = "const " + in.type + " x = in[i];\nout[i] = " + expression + ";",
          .expected = expected,
          .input = in,
          .ulps = ulps,
          .geometry = {{1, 1, 1}, {input.size(), 1, 1}}};
}

// Rounded once from the result in double.
auto in_double(double (*host)(double)) {
  return [host](float x) { return static_cast<float>(host(x)); };
}

std::vector<float> between(float low, float high) {
  std::vector<float> values;
  for (int i = 0; i <= 15; ++i) {
    values.push_back(low + (high - low) * static_cast<float>(i) / 15.0f);
  }
  return values;
}

}  // namespace

std::vector<Item> float_functions() {
  const std::vector<float> any = standard_input();
  const std::vector<float> with_nan = {not_a_number, -infinity, infinity, 0.0f, 2.0f, -2.0f};
  const auto positive = between(0.1f, 20.0f);
  return {
      function("min", "min(x, 1.5f)", any, [](float x) { return std::min(x, 1.5f); }),
      function("max", "max(x, 1.5f)", any, [](float x) { return std::max(x, 1.5f); }),
      function("fmin_nan", "fmin(x, 1.0f)", with_nan, [](float x) { return std::fmin(x, 1.0f); }),
      function("fmax_nan", "fmax(1.0f, x)", with_nan, [](float x) { return std::fmax(1.0f, x); }),
      function("sqrt", "sqrt(x)", positive, in_double(std::sqrt), sqrt_ulps),
      function("rsqrt", "rsqrt(x)", positive, in_double([](double x) { return 1 / std::sqrt(x); }),
               rsqrt_ulps),
      function("exp", "exp(x)", any, in_double(std::exp), exp_log_ulps),
      function("log", "log(x)", positive, in_double(std::log), exp_log_ulps),
      // CUDA C++ has each of these for double as well; a float must not be led there.
      function("float_functions_stay_float",
               "sizeof(sqrt(x)) + sizeof(rsqrt(x)) + sizeof(exp(x)) + sizeof(log(x)) + sizeof(fabs(x)) + "
               "sizeof(fmin(x, x)) + sizeof(fmax(x, x)) + sizeof(fma(x, x, x)) + sizeof(max(x, x))",
               std::vector<float>{1.0f}, [](float) { return 9u * 4u; }),
  };
}

std::vector<Item> integer_functions() {
  const std::vector<int> any = {0, 1, -1, 100, -100, 1 << 30, -(1 << 30)};
  const std::vector<unsigned> any_unsigned = {0, 1, 100, 0x80000000, 0xffffffff};
  return {
      function("min_int", "min(x, -5)", any, [](int x) { return std::min(x, -5); }),
      function("max_int", "max(x, -5)", any, [](int x) { return std::max(x, -5); }),
      function("min_uint", "min(x, 5u)", any_unsigned, [](unsigned x) { return std::min(x, 5u); }),
      function("max_uint", "max(x, 5u)", any_unsigned, [](unsigned x) { return std::max(x, 5u); }),
  };
}

}  // namespace duogemm::testing
