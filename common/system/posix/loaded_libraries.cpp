#include "system/loaded_libraries.h"

#include <dlfcn.h>

namespace duogemm {

std::string file_of(const void* function) {
  Dl_info place{};
  return dladdr(function, &place) != 0 ? place.dli_fname : "";
}

void* find_in_process(const char* name) { return dlsym(RTLD_DEFAULT, name); }

void* find_in_loaded(const std::string& file, const char* name) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    return nullptr;
  }
  void* const found = dlsym(library, name);
  dlclose(library);  // which is loaded as before: this handle was but one more
  return found;
}

void* find_in_linkers_order(const char* name) { return unless_ours(dlsym(RTLD_NEXT, name)); }

void* find_by_loading(const char* file, const char* name) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return nullptr;
  }
  void* const found = unless_ours(dlsym(library, name));
  if (found == nullptr) {
    dlclose(library);
  }
  return found;
}

}  // namespace duogemm
