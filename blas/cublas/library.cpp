#include <dlfcn.h>

#include <array>
#include <cstring>
#include <string>

#include "entry.h"
#include "next.h"
#include "system/loaded_libraries.h"

namespace duogemm::cublas {
namespace {

using Dlsym = void*(void* handle, const char* name) noexcept;  // or the call of it could not be a jump

thread_local int uninterposed = 0;

// While one lives, its thread's calls of dlsym all go on to the dynamic linker.
class Uninterposed {
 public:
  Uninterposed() { ++uninterposed; }
  ~Uninterposed() { --uninterposed; }
  Uninterposed(const Uninterposed&) = delete;
  Uninterposed& operator=(const Uninterposed&) = delete;
};

// The dynamic linker's own. It moved from libdl to libc with 2.34; before, and on ARM, it has other versions.
Dlsym* own_dlsym() {
  static Dlsym* const found = [] {
    void* function = nullptr;
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
      function = function != nullptr ? function : dlvsym(RTLD_NEXT, "dlsym", version);
    }
    return reinterpret_cast<Dlsym*>(function);
  }();
  return found;
}

// Finds what this library exports by that name; null for nothing.
void* exported_here(const char* name) {
  static void* const this_handle = dlopen(this_library().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  void* const found = this_handle == nullptr ? nullptr : own_dlsym()(this_handle, name);
  return found != nullptr && is_of_this_library(found) ? found : nullptr;
}

// Those who ask for the next one, or for the first in the linker's order, are served by that order.
bool may_be_ours(void* handle, const char* name) {
  return handle != RTLD_NEXT && handle != RTLD_DEFAULT && name != nullptr &&
         std::strncmp(name, "cublas", 6) == 0 && uninterposed == 0;
}

// The handle's own lookup comes last, so that dlerror() tells of that one.
void* find_interposed(void* handle, const char* name) {
  void* const ours = exported_here(name);
  void* const theirs = own_dlsym()(handle, name);
  if (ours == nullptr || theirs == nullptr) {
    return theirs;
  }
  NextLibrary& library = std::strncmp(name, "cublasLt", 8) == 0 ? next_cublaslt() : next_cublas();
  return library.adopts(theirs) ? ours : theirs;
}

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

// What a program looks up in a cuBLAS that it has opened for itself, as JAX does, would be cuBLAS's own
// function, and LD_PRELOAD no help: this dlsym answers with the function of the same name that this library
// has. Everything else goes on to the dynamic linker.
extern "C" void* dlsym(void* handle, const char* name) noexcept {
  using namespace duogemm::cublas;
  if (may_be_ours(handle, name)) {
    return find_interposed(handle, name);
  }
  // A jump: by its return address the dynamic linker knows the caller, which RTLD_NEXT depends on.
  return own_dlsym()(handle, name);
}
