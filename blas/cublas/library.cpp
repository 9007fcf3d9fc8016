#include "library.h"

#include <dlfcn.h>

#include <array>

#include "dynamic_linker.h"
#include "next.h"

namespace duogemm::cublas {

namespace {

// The library stays loaded: a program may unload it between two calls of ours.
void* handle_of(void* function) {
  Dl_info place{};
  if (function == nullptr || dladdr(function, &place) == 0) {
    return nullptr;
  }
  return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

// Sets what is not set yet. Answers what is set then.
void* set_once(std::atomic<void*>& handle, void* found) {
  void* unset = nullptr;
  return handle.compare_exchange_strong(unset, found) ? found : unset;
}

}  // namespace

void* NextLibrary::find(const char* name) {
  const Uninterposed lookups;
  void* handle = handle_;
  if (handle == nullptr && !searched_) {
    handle = set_once(handle_, handle_of(blas::find_next(probe_, files_)));
    searched_ = true;
  }
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

bool NextLibrary::adopts(void* function) {
  const Uninterposed lookups;
  void* const handle = handle_of(function);
  return handle != nullptr && handle == set_once(handle_, handle);
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
