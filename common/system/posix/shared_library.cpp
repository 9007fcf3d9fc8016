#include "system/shared_library.h"

#include <dlfcn.h>

namespace duogemm {

SharedLibrary::SharedLibrary(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      absence_.clear();
      return;
    }
    const char* const reason = dlerror();
    if (absence_.empty()) {
      absence_ = reason != nullptr ? reason : file + " could not be loaded";
    }
  }
}

void* SharedLibrary::address(const char* symbol) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
}

std::shared_ptr<void> load_symbol(const std::filesystem::path& file, const char* symbol,
                                  std::string& absence) {
  const std::shared_ptr<void> library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* loaded) {
    if (loaded != nullptr) {
      dlclose(loaded);
    }
  });
  void* const found = library == nullptr ? nullptr : dlsym(library.get(), symbol);
  if (found == nullptr) {
    absence = dlerror();
    return nullptr;
  }
  return {library, found};
}

}  // namespace duogemm
