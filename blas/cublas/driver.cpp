#include "driver.h"

#include <cuda.h>
#include <dlfcn.h>

namespace duogemm::cublas {
namespace {

template <typename Function>
class Found {
 public:
  Found(void* library, const char* name)
      : function_(library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name))) {}

  // Whether it is there and succeeds.
  template <typename... Arguments>
  bool operator()(Arguments... arguments) const {
    return function_ != nullptr && function_(arguments...) == CUDA_SUCCESS;
  }

 private:
  Function* function_;
};

// Names as the macros of cuda.h make them of those that are written.
struct Driver {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  Found<decltype(cuStreamIsCapturing)> is_capturing{library, "cuStreamIsCapturing"};
  Found<decltype(cuThreadExchangeStreamCaptureMode)> exchange_mode{library,
                                                                   "cuThreadExchangeStreamCaptureMode"};
};

const Driver& driver() {
  static const Driver loaded;
  return loaded;
}

// Answers what the mode was.
int exchange_mode(int mode) {
  auto value = static_cast<CUstreamCaptureMode>(mode);
  driver().exchange_mode(&value);
  return value;
}

}  // namespace

bool is_capturing(cudaStream_t stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver().is_capturing(stream, &status) && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

RelaxedCapture::RelaxedCapture() : before_(exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)) {}
RelaxedCapture::~RelaxedCapture() { exchange_mode(before_); }

}  // namespace duogemm::cublas
