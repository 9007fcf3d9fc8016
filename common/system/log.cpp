#include "system/log.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace duogemm {

bool log_is_wanted() {
  const char* environment = std::getenv("DUOGEMM_LOG");
  const std::string_view level = environment == nullptr ? "" : environment;
  return !level.empty() && level != "0";
}

void log_line(const std::string& line) {
  if (log_is_wanted()) {
    warn_line(line);
  }
}

void warn_line(const std::string& line) {
  std::fputs(("duogemm: " + line + "\n").c_str(), stderr);  // one call, so that threads do not mix lines
}

}  // namespace duogemm
