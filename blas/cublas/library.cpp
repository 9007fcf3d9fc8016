#include "library.h"

#include <dlfcn.h>

#include <array>

#include "dynamic_linker.h"
#include "next.h"

namespace duogemm::cublas {

void* NextLibrary::find(const char* name) {
  const std::lock_guard lock(mutex_);
  const Uninterposed lookups;
  if (handle_ == nullptr && !searched_) {
    searched_ = true;
    handle_ = handle_of(blas::find_next(probe_, files_));
  }
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

bool NextLibrary::adopts(void* function) {
  const std::lock_guard lock(mutex_);
  const Uninterposed lookups;
  void* const handle = handle_of(function);
  if (handle_ == nullptr) {
    handle_ = handle;
  }
  return handle != nullptr && handle == handle_;
}

// The library stays loaded: a program may unload it between two calls of ours.
void* NextLibrary::handle_of(void* function) {
  Dl_info place{};
  if (function == nullptr || dladdr(function, &place) == 0) {
    return nullptr;
  }
  return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

NextLibrary& next_cublas() {
  static constexpr std::array files = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
  static NextLibrary& library = *new NextLibrary("cublasSgemm_v2", files);
  return library;
}

NextLibrary& next_cublaslt() {
  static constexpr std::array files = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};
  static NextLibrary& library = *new NextLibrary("cublasLtMatmul", files);
  return library;
}

}  // namespace duogemm::cublas
