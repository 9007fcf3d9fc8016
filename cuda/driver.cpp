#include "driver.h"

#include <dlfcn.h>

#include <optional>
#include <string>

namespace duogemm::cuda {
namespace {

#define DUOGEMM_TEXT(name) #name
#define DUOGEMM_EXPANDED_TEXT(name) DUOGEMM_TEXT(name)

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

// The library stays loaded until the process ends: the driver does not support being unloaded.
std::optional<Driver> load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::nullopt;
  }
  Driver loaded;
  bool complete = true;
#define DUOGEMM_FIND(name) complete = find(library, DUOGEMM_EXPANDED_TEXT(name), loaded.name) && complete;
  DUOGEMM_DRIVER_FUNCTIONS(DUOGEMM_FIND)
#if CUDA_VERSION < 13000
  DUOGEMM_FIND(cuFuncSetSharedMemConfig)
#endif
#undef DUOGEMM_FIND
  find(library, "cuCtxGetId", loaded.cuCtxGetId);
  find(library, "cuStreamGetId", loaded.cuStreamGetId);
  if (!complete || loaded.cuInit(0) != CUDA_SUCCESS) {
    return std::nullopt;
  }
#if CUDA_VERSION >= 12030
  int version = 0;
  loaded.cuLaunchKernelEx = nullptr;
  if (loaded.cuDriverGetVersion(&version) == CUDA_SUCCESS && version >= 12030) {
    find(library, "cuLaunchKernelEx", loaded.cuLaunchKernelEx);
  }
#endif
  return loaded;
}

Status status_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return Status::out_of_memory;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return Status::build_failed;
    default:
      return Status::device_error;
  }
}

}  // namespace

const Driver* driver() {
  static const std::optional<Driver> loaded = load();
  return loaded ? &*loaded : nullptr;
}

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) {
    return;
  }
  const char* name = nullptr;
  const char* text = nullptr;
  driver()->cuGetErrorName(result, &name);
  driver()->cuGetErrorString(result, &text);
  throw Error(status_of(result), std::string("CUDA: ") + call + " returned " +
                                     (name ? name : std::to_string(result)) + " (" + (text ? text : "?") +
                                     ")");
}

}  // namespace duogemm::cuda
