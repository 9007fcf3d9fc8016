// One line that says what is going on, rewritten in place; nothing when the standard error is no terminal.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

#include "support/format.h"

namespace duogemm::bench {

class Progress {
 public:
  Progress() = default;
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& what) const {
    if (enabled_) {
      std::fprintf(stderr, "\r\033[K%.78s", what.c_str());
      std::fflush(stderr);
    }
  }
  void clear() const { show(""); }

 private:
  const bool enabled_ = isatty(STDERR_FILENO) != 0;
};

// "40 s" or "3 min": how long something takes, about.
inline std::string duration_text(double seconds) {
  constexpr double minute = 60.0;
  return seconds < 1.5 * minute ? format("%.0f s", seconds) : format("%.0f min", seconds / minute);
}

}  // namespace duogemm::bench
