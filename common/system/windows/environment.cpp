#include "system/environment.h"

#include <cstdlib>

#include "system/windows/win32.h"

namespace duogemm {

const std::vector<std::string>& environment_at_start() {
  static const std::vector<std::string> at_start = [] {
    std::vector<std::string> all;
    wchar_t* const block = GetEnvironmentStringsW();
    for (std::wstring_view entry = block; !entry.empty(); entry = entry.data() + entry.size() + 1) {
      all.push_back(to_utf8(entry));
    }
    FreeEnvironmentStringsW(block);
    return all;
  }();
  return at_start;
}

void set_environment(const char* name, const std::string& value) {
  _wputenv_s(to_wide(name).c_str(), to_wide(value).c_str());
}

std::optional<std::filesystem::path> environment_path(const char* name) {
  const wchar_t* const value = _wgetenv(to_wide(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::filesystem::path>(value);
}

}  // namespace duogemm
