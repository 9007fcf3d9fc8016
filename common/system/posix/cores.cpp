#include "system/cores.h"

#include <unistd.h>

#include <cstdlib>

namespace duogemm {

double load_average() {
  double load = 0.0;
  return getloadavg(&load, 1) == 1 ? load : 0.0;
}

std::size_t host_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) : 0;
}

}  // namespace duogemm
