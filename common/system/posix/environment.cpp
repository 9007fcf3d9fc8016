#include "system/environment.h"

#include <cstdlib>

#include "system/posix/particulars.h"

namespace duogemm {

const std::vector<std::string>& environment_at_start() {
  static const std::vector<std::string> at_start = [] {
    std::vector<std::string> all;
    for (char** entry = environment_entries(); entry != nullptr && *entry != nullptr; ++entry) {
      all.emplace_back(*entry);
    }
    return all;
  }();
  return at_start;
}

void set_environment(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

std::optional<std::filesystem::path> environment_path(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::filesystem::path>(value);
}

}  // namespace duogemm
