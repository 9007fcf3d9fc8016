#include "next.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "problem/precision.h"
#include "system/loaded_libraries.h"
#include "system/log.h"

namespace duogemm::blas {

void* find_next(const char* name, std::span<const char* const> files) {
  if (void* const found = find_in_linkers_order(name)) {
    return found;
  }
  // Those before this one may have been loaded to stand in front of it, and pass their calls on to it.
  const std::vector<std::string> all = loaded_libraries();
  for (auto file = std::find(all.begin(), all.end(), this_library()); file != all.end(); ++file) {
    void* const found = find_in_loaded(*file, name);
    if (found != nullptr && !is_of_this_library(found)) {
      return found;
    }
  }
  for (const char* file : files) {
    if (void* const found = find_by_loading(file, name)) {
      return found;  // and stays loaded
    }
  }
  return nullptr;
}

Precision permitted_precision() {
  const char* name = std::getenv("DUOGEMM_PRECISION");
  try {
    return name == nullptr || *name == '\0' ? Precision::fp32 : parse_precision("DUOGEMM_PRECISION", name);
  } catch (const Error& error) {
    warn_line(std::string(error.what()) + "; fp32 is used");
    return Precision::fp32;
  }
}

}  // namespace duogemm::blas
