#include <optional>

#include "cuda_device.h"
#include "library_files.h"
#include "system/shared_library.h"

namespace duogemm::cuda {
namespace {

struct Loaded {
  std::optional<Driver> driver = {};
  std::string absence = {};  // why there is none
};

std::string name_of(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  driver.cuGetErrorName(result, &name);
  return name != nullptr ? name : std::to_string(result);
}

Loaded load() {
  const SharedLibrary library({driver_file()});
  if (!library.is_open()) {
    return {.absence = library.absence()};
  }
  Driver loaded;
  bool complete = true;
#define DUOGEMM_FIND(name) complete = library.find(DUOGEMM_SYMBOL(name), loaded.name) && complete;
  DUOGEMM_DRIVER_FUNCTIONS(DUOGEMM_FIND)
#if CUDA_VERSION < 13000
  DUOGEMM_FIND(cuFuncSetSharedMemConfig)
#endif
#undef DUOGEMM_FIND
  library.find("cuCtxGetId", loaded.cuCtxGetId);
  library.find("cuStreamGetId", loaded.cuStreamGetId);
  library.find("cuStreamGetCaptureInfo_v3", loaded.cuStreamGetCaptureInfo_v3);
  library.find("cuStreamGetCaptureInfo_v2", loaded.cuStreamGetCaptureInfo_v2);
  library.find("cuGraphNodeGetDependencies_v2", loaded.cuGraphNodeGetDependencies_v2);
#if CUDA_VERSION >= 12040
  library.find("cuCtxGetDevResource", loaded.cuCtxGetDevResource);
#endif
  if (!complete) {
    return {.absence = driver_file() + " is too old for this build's toolkit"};
  }
  if (const CUresult result = loaded.cuInit(0); result != CUDA_SUCCESS) {
    return {.absence = "cuInit returned " + name_of(loaded, result)};
  }
#if CUDA_VERSION >= 12030
  int version = 0;
  loaded.cuLaunchKernelEx = nullptr;
  if (loaded.cuDriverGetVersion(&version) == CUDA_SUCCESS && version >= 12030) {
    library.find("cuLaunchKernelEx", loaded.cuLaunchKernelEx);
  }
#endif
  return {.driver = loaded};
}

const Loaded& loaded_once() {
  static const Loaded loaded = load();
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
  const std::optional<Driver>& loaded = loaded_once().driver;
  return loaded ? &*loaded : nullptr;
}

const std::string& driver_absence() { return loaded_once().absence; }

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) {
    return;
  }
  const char* text = nullptr;
  driver()->cuGetErrorString(result, &text);
  throw Error(status_of(result), std::string("CUDA: ") + call + " returned " + name_of(*driver(), result) +
                                     " (" + (text ? text : "?") + ")");
}

}  // namespace duogemm::cuda
