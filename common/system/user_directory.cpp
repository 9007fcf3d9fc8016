#include "system/user_directory.h"

#include <cstdlib>

namespace fs = std::filesystem;

namespace duogemm {
namespace {

fs::path environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path user_directory(const char* own, const char* xdg, const char* in_home, const char* folder) {
  if (std::getenv(own) != nullptr) {
    return environment(own);
  }
  // The specification: a path that is not absolute is to be ignored.
  if (const fs::path shared = environment(xdg); shared.is_absolute()) {
    return shared / folder;
  }
  const fs::path home = environment("HOME");
  return home.is_absolute() ? home / in_home / folder : fs::path();
}

}  // namespace duogemm
