#include "driver.h"

#include <cuda.h>
#include <dlfcn.h>

namespace duogemm::cublas {
namespace {

using Query = decltype(cuStreamIsCapturing);

// By the name that the macros of cuda.h make of it where streams are those of threads, too.
Query* find_query() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Query*>(dlsym(library, "cuStreamIsCapturing"));
}

}  // namespace

bool is_capturing(cudaStream_t stream) {
  static Query* const query = find_query();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return query != nullptr && query(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace duogemm::cublas
