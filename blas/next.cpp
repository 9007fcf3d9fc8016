#include "next.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>

#include "problem/precision.h"
#include "system/log.h"

namespace duogemm::blas {
namespace {

int add_name(dl_phdr_info* object, std::size_t, void* names) {
  if (object->dlpi_name != nullptr && *object->dlpi_name != '\0') {  // the program itself has no name
    static_cast<std::vector<std::string>*>(names)->emplace_back(object->dlpi_name);
  }
  return 0;
}

// A system may have this library as its libblas.so.3, where a search would come back to it.
void* unless_ours(void* function) {
  return function == nullptr || is_of_this_library(function) ? nullptr : function;
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

bool is_of_this_library(void* function) {
  Dl_info theirs{};
  Dl_info ours{};
  return dladdr(function, &theirs) != 0 &&
         dladdr(reinterpret_cast<const void*>(&is_of_this_library), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
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

void* find_next(const char* name, std::span<const char* const> files) {
  if (void* const found = unless_ours(dlsym(RTLD_NEXT, name))) {
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
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      continue;
    }
    if (void* const found = unless_ours(dlsym(library, name))) {
      return found;  // and stays loaded
    }
    dlclose(library);
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
