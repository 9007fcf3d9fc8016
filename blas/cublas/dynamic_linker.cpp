#include "dynamic_linker.h"

#include <dlfcn.h>

#include <cstring>
#include <string>

#include "library.h"
#include "loaded.h"

namespace duogemm::cublas {
namespace {

using Dlsym = void*(void* handle, const char* name) noexcept;  // or the call of it could not be a jump

thread_local int uninterposed = 0;

// The dynamic linker's own. It moved from libdl to libc with 2.34; before, and on ARM, it has other versions.
Dlsym* find_dlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    if (void* const found = dlvsym(RTLD_NEXT, "dlsym", version)) {
      return reinterpret_cast<Dlsym*>(found);
    }
  }
  return nullptr;
}

Dlsym* own_dlsym() {
  static Dlsym* const found = find_dlsym();
  return found;
}

// What this library exports by that name; null for nothing.
void* exported_here(const char* name) {
  static void* const this_handle = dlopen(blas::this_library().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  void* const found = this_handle == nullptr ? nullptr : own_dlsym()(this_handle, name);
  Dl_info place{};
  Dl_info here{};
  return found != nullptr && dladdr(found, &place) != 0 &&
                 dladdr(reinterpret_cast<const void*>(&exported_here), &here) != 0 &&
                 place.dli_fbase == here.dli_fbase
             ? found
             : nullptr;
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

}  // namespace

Uninterposed::Uninterposed() { ++uninterposed; }
Uninterposed::~Uninterposed() { --uninterposed; }

}  // namespace duogemm::cublas

extern "C" void* dlsym(void* handle, const char* name) noexcept {
  using namespace duogemm::cublas;
  if (may_be_ours(handle, name)) {
    return find_interposed(handle, name);
  }
  // A jump: by its return address the dynamic linker knows the caller, which RTLD_NEXT depends on.
  return own_dlsym()(handle, name);
}
