// Numbers and lists as words, and words as numbers.
#pragma once

#include <charconv>
#include <cstdio>
#include <functional>
#include <ranges>
#include <string>

namespace duogemm::bench {

// printf for one number.
inline std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

// Tells whether all of the text is one.
template <typename Number>
bool read_number(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, number) == std::from_chars_result{end, std::errc()};
}

// "opencl, cuda, all": what `text` makes of each of them.
template <std::ranges::input_range Range, typename Text = std::identity>
std::string join(Range&& items, const std::string& between = ", ", Text text = {}) {
  std::string joined;
  bool first = true;
  for (auto&& item : items) {
    joined += first ? "" : between;
    joined += std::invoke(text, item);
    first = false;
  }
  return joined;
}

}  // namespace duogemm::bench
