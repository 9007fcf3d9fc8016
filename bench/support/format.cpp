#include "support/format.h"

#include <cstdio>

namespace duogemm::bench {

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace duogemm::bench
