// Problems for duogemm_problem's entry points out of a fuzzer's bytes, and what the documentation says of
// them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "duogemm/duogemm.h"
#include "problem/overlap.h"

namespace duogemm::fuzz {

using Wide = __int128;  // in which no product of two sizes overflows

// How long an array is that a problem most often asks for at most.
constexpr Wide most_elements = 1 << 14;

// The fuzzer's bytes, and zeros behind them.
class Bytes {
 public:
  // `far`: half of all sizes are about as large as problems can have them.
  Bytes(const std::uint8_t* data, std::size_t size, bool far = false) : data_(data), size_(size), far_(far) {}

  std::uint8_t next() { return at_ < size_ ? data_[at_++] : 0; }
  template <typename T>
  T raw() {
    std::uint8_t bytes[sizeof(T)];
    for (std::uint8_t& byte : bytes) {
      byte = next();
    }
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  template <typename T, std::size_t count>
  T one_of(const T (&values)[count]) {
    return values[next() % count];
  }

  // Mostly one of those that there are. By its bytes, because C++ does not let an enumeration have the
  // others.
  template <typename Enumeration>
  void enumerator(Enumeration& to, int count = 2) {
    const std::uint8_t choice = next();
    const int value = choice < 245 ? choice % count : choice < 250 ? count : raw<int>();
    std::memcpy(&to, &value, sizeof value);
  }

  std::int64_t any() {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::int64_t power = std::int64_t{1} << next() % 63;
    const std::int64_t values[] = {-1,        std::numeric_limits<std::int64_t>::min(),
                                   most,      most - 1,
                                   power,     power - 1,
                                   power + 1, raw<std::int64_t>()};
    return one_of(values);
  }
  // Mostly small, around the kernels' tiles at times, long now and then.
  std::int64_t size() {
    const std::uint8_t choice = next();
    if (far_ && choice < 128) {
      return (std::int64_t{1} << choice % 62) + next() % 3 - 1;
    }
    return choice < 180   ? choice % 10
           : choice < 225 ? 13 + choice % 22
           : choice < 240 ? 64 + 3 * next()
                          : any();
  }
  // Mostly enough.
  std::int64_t at_least(std::int64_t least) {
    const std::uint8_t choice = next();
    if (choice < 200 && least < std::numeric_limits<std::int64_t>::max() - 4) {
      return least + choice % 4;
    }
    return choice < 210 && least > std::numeric_limits<std::int64_t>::min() ? least - 1 : any();
  }

  float scalar() {
    const std::uint8_t choice = next();
    constexpr float values[] = {1.0f,
                                0.0f,
                                -1.0f,
                                2.5f,
                                -0.0f,
                                0.7f,
                                std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                0x1p-140f};
    return choice < 230 ? values[choice % std::size(values)] : raw<float>();
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  bool far_;
  std::size_t at_ = 0;
};

inline bool is_one_of(const void* enumerator, int count) {
  int value;
  std::memcpy(&value, enumerator, sizeof value);
  return value >= 0 && value < count;
}

// How a matrix lies in memory: `length` elements together, `lines` times, ld apart.
struct Shape {
  std::int64_t length;
  std::int64_t lines;
  std::int64_t ld;
  std::int64_t stride;
  bool by_rows;  // the lines are the rows of op() of the matrix

  std::int64_t at(std::int64_t member, std::int64_t row, std::int64_t col) const {
    return member * stride + (by_rows ? row * ld + col : col * ld + row);
  }
  Wide extent(std::int64_t batch) const {
    if (batch <= 0 || length <= 0 || lines <= 0) {
      return 0;
    }
    return Wide{batch - 1} * stride + Wide{lines - 1} * ld + length;
  }
};

inline Shape shape(bool by_rows, std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride) {
  return by_rows ? Shape{cols, rows, ld, stride, true} : Shape{rows, cols, ld, stride, false};
}

// The problem as the documentation has it; the enumerators must be good.
struct Reading {
  explicit Reading(const duogemm_problem& p)
      : a(shape((p.layout == DUOGEMM_ROW_MAJOR) != (p.a_op == DUOGEMM_TRANSPOSE), p.m, p.k, p.lda,
                p.a_stride)),
        b(shape((p.layout == DUOGEMM_ROW_MAJOR) != (p.b_op == DUOGEMM_TRANSPOSE), p.k, p.n, p.ldb,
                p.b_stride)),
        c(shape(p.layout == DUOGEMM_ROW_MAJOR, p.m, p.n, p.ldc, p.c_stride)),
        multiplies(p.alpha != 0.0f && p.k != 0),
        is_empty(p.m == 0 || p.n == 0 || p.batch == 0 || (!multiplies && p.beta == 1.0f)) {}

  Shape a;
  Shape b;
  Shape c;
  bool multiplies;
  bool is_empty;
};

inline bool enumerators_are_valid(const duogemm_problem& p) {
  return is_one_of(&p.layout, 2) && is_one_of(&p.a_op, 2) && is_one_of(&p.b_op, 2) &&
         is_one_of(&p.level, 2) && is_one_of(&p.precision, 3) &&
         (p.level == DUOGEMM_RUN_TO_RUN || p.precision == DUOGEMM_FP32);
}

inline bool numbers_are_valid(const duogemm_problem& p, const Reading& reading) {
  const auto ld_is_valid = [](const Shape& s) { return s.ld >= 1 && s.ld >= s.length; };
  return p.m >= 0 && p.n >= 0 && p.k >= 0 && p.batch >= 0 && ld_is_valid(reading.a) &&
         ld_is_valid(reading.b) && ld_is_valid(reading.c) && p.a_stride >= 0 && p.b_stride >= 0 &&
         p.c_stride >= (p.batch > 1 ? 1 : 0);
}

// Whether the problem, whose numbers are valid, reaches further than 2^60 elements. In double, whose rounding
// may decide just there.
inline bool reaches_too_far(const duogemm_problem& p, const Reading& reading) {
  const auto too_far = [&](const Shape& s) {
    const auto as_double = [](std::int64_t value) { return static_cast<double>(value); };
    const double extent = (as_double(p.batch) - 1) * as_double(s.stride) +
                          as_double(s.lines - 1) * as_double(s.ld) + as_double(s.length);
    const double elements = as_double(p.batch) * as_double(s.lines) * as_double(s.length);
    return extent > 0x1p60 || elements > 0x1p60;
  };
  return !reading.is_empty &&
         (too_far(reading.c) || (reading.multiplies && (too_far(reading.a) || too_far(reading.b))));
}

// Whether results of a batch by strides have elements in common, where the problem does not reach too far.
inline bool results_overlap(const duogemm_problem& p, const Reading& reading) {
  const Shape& c = reading.c;
  return !reading.is_empty && members_overlap(c.length, c.lines, c.ld, c.stride, p.batch);
}

inline duogemm_problem decode(Bytes& bytes) {
  duogemm_problem p = DUOGEMM_PROBLEM_INIT;
  bytes.enumerator(p.layout);
  bytes.enumerator(p.a_op);
  bytes.enumerator(p.b_op);
  bytes.enumerator(p.level);
  // At the level everywhere it must be FP32; that it is refused otherwise need not be seen often.
  if (!is_one_of(&p.level, 2) || p.level == DUOGEMM_RUN_TO_RUN || bytes.next() % 16 == 0) {
    bytes.enumerator(p.precision, 3);
  }
  p.m = bytes.size();
  p.n = bytes.size();
  p.k = bytes.size();
  p.alpha = bytes.scalar();
  p.beta = bytes.scalar();
  const Reading reading = enumerators_are_valid(p) ? Reading(p) : Reading(duogemm_problem{});
  const auto leading = [&](const Shape& s) { return bytes.at_least(s.length > 1 ? s.length : 1); };
  p.lda = leading(reading.a);
  p.ldb = leading(reading.b);
  p.ldc = leading(reading.c);
  const std::uint8_t batch = bytes.next();
  p.batch = batch < 120 ? 1 : batch < 240 ? batch % 5 : bytes.any();
  // Behind the whole matrix, most often; anywhere for A and B, whose members may overlap.
  const auto stride = [&](const Shape& s, std::int64_t ld) {
    const Wide length = s.lines <= 0 ? 0 : Wide{s.lines - 1} * ld + s.length;
    return bytes.at_least(length > 0 && length < most_elements ? static_cast<std::int64_t>(length) : 1);
  };
  const auto input_stride = [&](const Shape& s, std::int64_t ld) {
    const std::uint8_t choice = bytes.next();
    return choice % 4 == 0 ? choice / 4 : stride(s, ld);
  };
  p.a_stride = input_stride(reading.a, p.lda);
  p.b_stride = input_stride(reading.b, p.ldb);
  p.c_stride = stride(reading.c, p.ldc);
  return p;
}

inline void print(const duogemm_problem& p) {
  int enumerators[5];
  std::memcpy(&enumerators[0], &p.layout, sizeof(int));
  std::memcpy(&enumerators[1], &p.a_op, sizeof(int));
  std::memcpy(&enumerators[2], &p.b_op, sizeof(int));
  std::memcpy(&enumerators[3], &p.level, sizeof(int));
  std::memcpy(&enumerators[4], &p.precision, sizeof(int));
  std::fprintf(stderr, "layout %d, a_op %d, b_op %d, level %d, precision %d, alpha %a, beta %a\n",
               enumerators[0], enumerators[1], enumerators[2], enumerators[3], enumerators[4],
               static_cast<double>(p.alpha), static_cast<double>(p.beta));
  const struct {
    const char* name;
    std::int64_t value;
  } numbers[] = {{"m", p.m},
                 {"n", p.n},
                 {"k", p.k},
                 {"lda", p.lda},
                 {"ldb", p.ldb},
                 {"ldc", p.ldc},
                 {"batch", p.batch},
                 {"a_stride", p.a_stride},
                 {"b_stride", p.b_stride},
                 {"c_stride", p.c_stride}};
  for (const auto& [name, value] : numbers) {
    std::fprintf(stderr, "%s %lld\n", name, static_cast<long long>(value));
  }
}

inline void require(bool truth, const char* what, const duogemm_problem& problem) {
  if (!truth) {
    std::fprintf(stderr, "%s\nthe library's last error: %s\n", what, duogemm_last_error());
    print(problem);
    std::abort();
  }
}

}  // namespace duogemm::fuzz
