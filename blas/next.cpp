#include "next.h"

#include <dlfcn.h>

#include <algorithm>

#include "loaded.h"

namespace duogemm::blas {
namespace {

// A system may have this library as its libblas.so.3, where a search would come back to it.
bool is_ours(void* function) {
  Dl_info theirs{};
  Dl_info ours{};
  return dladdr(function, &theirs) != 0 && dladdr(reinterpret_cast<const void*>(&is_ours), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

void* unless_ours(void* function) { return function == nullptr || is_ours(function) ? nullptr : function; }

// Those before this one may have been loaded to stand in front of it, and pass their calls on to it.
void* find_behind(const char* name) {
  const std::vector<std::string> all = loaded_libraries();
  for (auto file = std::find(all.begin(), all.end(), this_library()); file != all.end(); ++file) {
    if (void* const found = unless_ours(find_in_loaded(*file, name))) {
      return found;
    }
  }
  return nullptr;
}

// What is found stays loaded.
void* find_in_system(const char* name, std::span<const char* const> files) {
  for (const char* file : files) {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      continue;
    }
    if (void* const found = unless_ours(dlsym(library, name))) {
      return found;
    }
    dlclose(library);
  }
  return nullptr;
}

}  // namespace

void* find_next(const char* name, std::span<const char* const> files) {
  if (void* const found = unless_ours(dlsym(RTLD_NEXT, name))) {
    return found;
  }
  if (void* const found = find_behind(name)) {
    return found;
  }
  return find_in_system(name, files);
}

}  // namespace duogemm::blas
