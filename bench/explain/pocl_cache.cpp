#include "explain/pocl_cache.h"

#include <cstdlib>

namespace duogemm::bench {

PoclCache::PoclCache() { setenv("POCL_CACHE_DIR", folder_.path().c_str(), 1); }

std::set<std::filesystem::path> PoclCache::fresh(const std::string& kernel) {
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.path().filename() == kernel + ".so" && known_.insert(entry.path()).second) {
      found.insert(entry.path());
    }
  }
  return found;
}

}  // namespace duogemm::bench
