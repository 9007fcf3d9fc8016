#include "system/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>

namespace duogemm {
namespace {

int add_name(dl_phdr_info* object, std::size_t, void* names) {
  if (object->dlpi_name != nullptr && *object->dlpi_name != '\0') {  // the program itself has no name
    static_cast<std::vector<std::string>*>(names)->emplace_back(object->dlpi_name);
  }
  return 0;
}

}  // namespace

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(add_name, &names);
  return names;
}

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
