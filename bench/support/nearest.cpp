#include "support/nearest.h"

#include <algorithm>

namespace duogemm::bench {
namespace {

// Letters to add, leave out, change, or exchange with their neighbours ("optimal string alignment").
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::vector<std::size_t>> steps(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      std::size_t& fewest = steps[i][j];
      if (i == 0 || j == 0) {
        fewest = i + j;
        continue;
      }
      const bool same = from[i - 1] == to[j - 1];
      fewest = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        fewest = std::min(fewest, steps[i - 2][j - 2] + 1);
      }
    }
  }
  return steps[from.size()][to.size()];
}

}  // namespace

std::string suggestion(const std::string& given, const std::vector<std::string>& names) {
  constexpr std::size_t begins = 2;
  const auto far = [&](const std::string& name) {
    return !given.empty() && name.starts_with(given) ? begins : distance(given, name);
  };
  const auto found = std::ranges::min_element(names, {}, far);
  const bool is_near = found != names.end() && far(*found) <= begins && far(*found) < found->size();
  return is_near ? "; did you mean " + *found + "?" : "";
}

}  // namespace duogemm::bench
