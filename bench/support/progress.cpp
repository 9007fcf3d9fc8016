#include "support/progress.h"

#include <unistd.h>

#include <cstdio>

namespace duogemm::bench {

Progress::Progress() : enabled_(isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& what) {
  if (enabled_) {
    std::fprintf(stderr, "\r\033[K%.78s", what.c_str());
    std::fflush(stderr);
  }
}

void Progress::clear() { show(""); }

}  // namespace duogemm::bench
