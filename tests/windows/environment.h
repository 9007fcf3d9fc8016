// What tests call of POSIX's environment. In front of each of their sources.
#pragma once

#include <stdlib.h>

#include <filesystem>

inline int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
inline int setenv(const char* name, const wchar_t* value, int) {
  return _putenv_s(name, std::filesystem::path(value).string().c_str());
}
inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
