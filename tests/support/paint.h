// Memory with something in it: what a call changes is between two places.
#pragma once

#include <vector>

namespace duogemm::testing {

inline std::vector<int> painted(std::size_t bytes) {
  return std::vector<int>(bytes / sizeof(int), 0x5a5a5a5a);
}

// Tells whether something has changed, and only from byte `begin` to before byte `end`.
inline bool changed_within(const std::vector<int>& now, std::size_t begin, std::size_t end) {
  const int paint = painted(sizeof(int)).front();
  bool any = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool inside = i * sizeof(int) >= begin && i * sizeof(int) < end;
    if (now[i] != paint && !inside) {
      return false;
    }
    any = any || now[i] != paint;
  }
  return any;
}

}  // namespace duogemm::testing
