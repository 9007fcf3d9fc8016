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

// In the program's own code page, which is UTF-8 (see utf8.rc): std::getenv() answers it as it is given.
void set_environment(const char* name, const std::string& value) { _putenv_s(name, value.c_str()); }

std::optional<std::filesystem::path> environment_path(const char* name) {
  const std::wstring wide = to_wide(name);
  SetLastError(ERROR_SUCCESS);
  std::wstring value(GetEnvironmentVariableW(wide.c_str(), nullptr, 0), L'\0');
  if (value.empty()) {  // the length counts the end, which is not there where the variable is empty
    return GetLastError() == ERROR_ENVVAR_NOT_FOUND ? std::nullopt : std::optional<std::filesystem::path>("");
  }
  value.resize(GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size())));
  return value;
}

}  // namespace duogemm
