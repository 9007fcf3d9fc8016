// The library speaks of itself: to who asks, and where it cannot do as it was told.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace duogemm {

// Answers whether the environment variable DUOGEMM_LOG is set to anything but 0.
inline bool log_is_wanted() {
  const char* environment = std::getenv("DUOGEMM_LOG");
  const std::string_view level = environment == nullptr ? "" : environment;
  return !level.empty() && level != "0";
}

// Writes "duogemm: <line>" to standard error.
inline void warn_line(const std::string& line) {
  std::fputs(("duogemm: " + line + "\n").c_str(), stderr);  // one call, so that threads do not mix lines
}

// Writes it where a log is wanted.
inline void log_line(const std::string& line) {
  if (log_is_wanted()) {
    warn_line(line);
  }
}

}  // namespace duogemm
