// Windows' own header, set up as it is used here: texts are UTF-8 outside, and what fails says so by errno.
#pragma once

#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "system/paths.h"

namespace duogemm {

// False, with errno for the system's last error.
inline bool failed() {
  errno = std::system_category().default_error_condition(static_cast<int>(GetLastError())).value();
  return false;
}

inline std::wstring to_wide(std::string_view text) { return path_of(text).native(); }
inline std::string to_utf8(std::wstring_view text) { return std::filesystem::path(text).string(); }

struct CloseHandleOf {
  void operator()(void* handle) const { CloseHandle(handle); }
};
using Handle = std::unique_ptr<void, CloseHandleOf>;

}  // namespace duogemm
