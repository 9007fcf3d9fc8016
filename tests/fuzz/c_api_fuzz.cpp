// A libFuzzer target: any problem and any null pointers for duogemm_sgemm. What the documentation calls wrong
// must be refused with C untouched; what it allows must give the bits of a plain loop, or where sums may have
// another order a result within the error bound and the same one again, and touch nothing else. Arrays are as
// long as the problem reaches and no longer, so that AddressSanitizer sees a step too far.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "duogemm/duogemm.h"
#include "problem_bytes.h"

namespace duogemm::fuzz {
namespace {

// What is run at most: multiplications.
constexpr Wide most_steps = 1 << 16;

// Elements of matrices, from a seed.
class Elements {
 public:
  explicit Elements(std::uint32_t seed) : state_(seed * 2u + 1u) {}

  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    if (const std::uint32_t rarely = state_ >> 8; rarely % 64 == 0) {
      constexpr float values[] = {0.0f,
                                  -0.0f,
                                  0x1p-130f,
                                  -0x1p-149f,
                                  0x1.fffffep127f,
                                  std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN()};
      return values[rarely / 64 % std::size(values)];
    }
    return static_cast<float>(static_cast<std::int32_t>(state_)) * 0x1p-30f;
  }

 private:
  std::uint32_t state_;
};

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// Exactly so many elements on the heap.
class Array {
 public:
  Array(Wide length, Elements& elements)
      : length_(static_cast<std::size_t>(length)), data_(new float[length_]), before_(length_) {
    for (std::size_t i = 0; i < length_; ++i) {
      data_[i] = before_[i] = elements.next();
    }
  }

  Array(const Array& other) : length_(other.length_), data_(new float[length_]), before_(other.before_) {
    std::copy(before_.begin(), before_.end(), data_.get());
  }
  Array& operator=(const Array&) = delete;

  float* data() { return data_.get(); }
  std::size_t length() const { return length_; }
  const std::vector<float>& before() const { return before_; }
  bool is_untouched() const {
    return length_ == 0 || std::memcmp(data_.get(), before_.data(), sizeof(float) * length_) == 0;
  }

 private:
  std::size_t length_;
  std::unique_ptr<float[]> data_;
  std::vector<float> before_;
};

template <typename Function>
void for_each_element(const duogemm_problem& p, Function function) {
  for (std::int64_t member = 0; member < p.batch; ++member) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      for (std::int64_t col = 0; col < p.n; ++col) {
        function(member, row, col);
      }
    }
  }
}

bool overlaps_itself(const duogemm_problem& p, const Shape& c, std::size_t length) {
  std::vector<bool> seen(length);
  bool overlaps = false;
  for_each_element(p, [&](std::int64_t member, std::int64_t row, std::int64_t col) {
    const std::size_t at = index(c.at(member, row, col));
    overlaps = overlaps || seen[at];
    seen[at] = true;
  });
  return overlaps;
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

// What an element of C may become.
class Expectation {
 public:
  Expectation(const duogemm_problem& p, const Reading& reading, Array& a, Array& b, Array& c,
              std::int64_t member, std::int64_t row, std::int64_t col)
      : alpha_(p.alpha), k_(p.k) {
    scaled_ = p.beta == 0.0f ? 0.0f : p.beta * c.before()[index(reading.c.at(member, row, col))];
    if (!reading.multiplies) {
      chain_ = scaled_;
      return;
    }
    float sum = 0.0f;
    for (std::int64_t i = 0; i < p.k; ++i) {
      const float x = a.data()[reading.a.at(member, row, i)];
      const float y = b.data()[reading.b.at(member, i, col)];
      sum = std::fmaf(x, y, sum);
      const double product = double{x} * y;
      sum_ += product;
      magnitude_ += std::isfinite(product) ? std::fabs(product) : 0.0;
    }
    chain_ = p.beta == 0.0f ? p.alpha * sum : std::fmaf(p.alpha, sum, scaled_);
  }

  bool is_chain(float found) const { return same(found, chain_); }

  // Whatever the order of the sum. Nothing is said of what overflows in one order and not in another.
  bool in_any_order(float found) const {
    constexpr double most = std::numeric_limits<float>::max() / 2;
    const double old = std::isfinite(scaled_) ? std::fabs(scaled_) : 0.0;
    const double reach = std::fabs(double{alpha_}) * magnitude_ + old;
    if (is_chain(found) || !std::isfinite(alpha_) || magnitude_ >= most || reach >= most) {
      return true;
    }
    const double value = alpha_ * sum_ + scaled_;
    if (!std::isfinite(value)) {
      return same(found, static_cast<float>(value));
    }
    const double underflow = std::numeric_limits<float>::denorm_min() * std::fmax(1.0, std::fabs(alpha_));
    const double unit = 0x1p-24 * reach + underflow;
    return std::fabs(found - value) <= static_cast<double>(k_ + 3) * unit;
  }

 private:
  float alpha_;
  std::int64_t k_;
  float scaled_;
  float chain_;  // one chain of fma in ascending k
  double sum_ = 0.0;
  double magnitude_ = 0.0;  // of the products that are finite
};

void expect_refusal(const duogemm_problem& p, const duogemm_problem* passed, const float* a, const float* b,
                    Array& c, float* c_passed) {
  require(duogemm_sgemm(passed, a, b, c_passed) == DUOGEMM_INVALID_ARGUMENT,
          "an invalid call was not refused", p);
  require(duogemm_last_error()[0] != '\0', "a refusal without a message", p);
  require(c.is_untouched(), "a refused call changed C", p);
}

}  // namespace
}  // namespace duogemm::fuzz

// Ends with 77 where there is no device.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.n = problem.k = 1;
  const float one = 1.0f;
  float c = 0.0f;
  if (duogemm_sgemm(&problem, &one, &one, &c) != DUOGEMM_SUCCESS) {
    std::fprintf(stderr, "skipped: %s\n", duogemm_last_error());
    std::_Exit(77);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace duogemm::fuzz;
  Bytes bytes(data, size);
  const duogemm_problem p = decode(bytes);
  const std::uint8_t nulls = bytes.next();
  const bool null_problem = nulls == 255;
  const bool null_a = nulls >= 200 && (nulls & 1) != 0;
  const bool null_b = nulls >= 200 && (nulls & 2) != 0;
  const bool null_c = nulls >= 200 && (nulls & 4) != 0;
  Elements elements(bytes.raw<std::uint16_t>());

  if (null_problem || !enumerators_are_valid(p) || !numbers_are_valid(p, Reading(p)) ||
      reaches_too_far(p, Reading(p))) {
    Array a(16, elements);
    Array c(16, elements);
    expect_refusal(p, null_problem ? nullptr : &p, null_a ? nullptr : a.data(), null_b ? nullptr : a.data(),
                   c, null_c ? nullptr : c.data());
    return 0;
  }

  const Reading reading(p);
  const bool reads = !reading.is_empty && reading.multiplies;
  const Wide a_length = reads ? reading.a.extent(p.batch) : 0;
  const Wide b_length = reads ? reading.b.extent(p.batch) : 0;
  const Wide c_length = reading.is_empty ? 0 : reading.c.extent(p.batch);
  if (a_length > most_elements || b_length > most_elements || c_length > most_elements) {
    return 0;
  }
  if (!reading.is_empty && Wide{p.m} * p.n * p.batch * (reads ? p.k : 1) > most_steps) {
    return 0;
  }
  Array a(a_length, elements);
  Array b(b_length, elements);
  Array c(c_length, elements);
  if (!reading.is_empty && overlaps_itself(p, reading.c, c.length())) {
    expect_refusal(p, &p, null_a ? nullptr : a.data(), null_b ? nullptr : b.data(), c,
                   null_c ? nullptr : c.data());
    return 0;
  }
  float* const a_passed = null_a ? nullptr : a.data();
  float* const b_passed = null_b ? nullptr : b.data();
  float* const c_passed = null_c ? nullptr : c.data();
  if ((reads && (null_a || null_b)) || (!reading.is_empty && null_c)) {
    expect_refusal(p, &p, a_passed, b_passed, c, c_passed);
    return 0;
  }

  Array again(c);
  require(duogemm_sgemm(&p, a_passed, b_passed, c_passed) == DUOGEMM_SUCCESS, "a valid call failed", p);
  require(duogemm_sgemm(&p, a_passed, b_passed, null_c ? nullptr : again.data()) == DUOGEMM_SUCCESS,
          "a valid call failed the second time", p);
  require(a.is_untouched() && b.is_untouched(), "A or B was changed", p);
  if (!reading.is_empty) {
    for_each_element(p, [&](std::int64_t member, std::int64_t row, std::int64_t col) {
      float& found = c.data()[reading.c.at(member, row, col)];
      const Expectation expectation(p, reading, a, b, c, member, row, col);
      if (p.level == DUOGEMM_EVERYWHERE || !reading.multiplies) {
        require(expectation.is_chain(found), "an element has other bits", p);
      } else {
        require(expectation.in_any_order(found), "an element is out of bound", p);
      }
      require(same(found, again.data()[reading.c.at(member, row, col)]), "the same call gave other bits", p);
      found = c.before()[index(reading.c.at(member, row, col))];  // which leaves what is not C's to compare
    });
  }
  require(c.is_untouched(), "something outside C was changed", p);
  return 0;
}
