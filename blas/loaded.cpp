#include "loaded.h"

#include <dlfcn.h>
#include <link.h>

namespace duogemm::blas {
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

std::string this_library() {
  Dl_info place{};
  return dladdr(reinterpret_cast<const void*>(&this_library), &place) != 0 ? place.dli_fname : "";
}

void* find_in_loaded(const std::string& file, const char* name) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    return nullptr;
  }
  void* const found = dlsym(library, name);
  dlclose(library);  // which is loaded as before: this handle was but one more
  return found;
}

}  // namespace duogemm::blas
