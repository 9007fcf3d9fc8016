#include "next.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "problem/precision.h"
#include "system/loaded_libraries.h"
#include "system/log.h"

namespace duogemm::blas {
namespace {

// Null where it is not set, or empty.
const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

Asked read_environment() {
  Asked asked;
  try {
    if (const char* const name = variable("DUOGEMM_PRECISION")) {
      asked.precision = parse_precision("DUOGEMM_PRECISION", name);
    }
  } catch (const Error& error) {
    warn_line(std::string(error.what()) + "; fp32 is used");
  }
  try {
    if (const char* const name = variable("DUOGEMM_LEVEL")) {
      asked.level = parse_level("DUOGEMM_LEVEL", name);
    }
  } catch (const Error& error) {
    warn_line(std::string(error.what()) + "; run_to_run is used");
  }
  if (asked.level == Reproducibility::everywhere && asked.precision != Precision::fp32) {
    warn_line(std::string("DUOGEMM_PRECISION is ") + to_text(asked.precision) +
              "; it must be fp32 at the level everywhere; fp32 is used");
    asked.precision = Precision::fp32;
  }
  return asked;
}

}  // namespace

void* find_next(const char* name, std::span<const char* const> files) {
  if (void* const found = find_in_linkers_order(name)) {
    return found;
  }
  // Those before this one may have been loaded to stand in front of it, and pass their calls on to it.
  const std::vector<std::string> all = loaded_libraries();
  for (auto file = std::find(all.begin(), all.end(), this_library()); file != all.end(); ++file) {
    if (void* const found = unless_ours(find_in_loaded(*file, name))) {
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

const Asked& asked_by_environment() {
  static const Asked asked = read_environment();
  return asked;
}

}  // namespace duogemm::blas
