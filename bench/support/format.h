// Numbers and lists as words.
#pragma once

#include <functional>
#include <ranges>
#include <string>

namespace duogemm::bench {

// printf for one number.
std::string format(const char* pattern, double value);

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
