#include "support/progress.h"

#include <unistd.h>

#include <cstdio>

#include "support/format.h"

namespace duogemm::bench {

Progress::Progress() : enabled_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& what) {
  if (enabled_) {
    std::fprintf(stderr, "\r\033[K%.78s", what.c_str());
    std::fflush(stderr);
  }
}

void Progress::clear() { show(""); }

std::string duration_text(double seconds) {
  constexpr double minute = 60.0;
  return seconds < 1.5 * minute ? format("%.0f s", seconds) : format("%.0f min", seconds / minute);
}

}  // namespace duogemm::bench
