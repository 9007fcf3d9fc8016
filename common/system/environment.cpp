#include "system/environment.h"

#include <algorithm>

namespace duogemm {

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (const std::string& kept : environment_at_start()) {
    const std::string name = kept.substr(0, kept.find('=') + 1);
    if (std::ranges::none_of(changes, [&](const std::string& change) { return change.starts_with(name); })) {
      all.push_back(kept);
    }
  }
  return all;
}

}  // namespace duogemm
