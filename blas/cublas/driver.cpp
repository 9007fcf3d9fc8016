#include "driver.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "duogemm/error.h"

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
  Found<decltype(cuStreamGetCtx)> context_of{library, "cuStreamGetCtx"};
  Found<CUresult(CUcontext, unsigned long long*)> id_of{library, "cuCtxGetId"};
  Found<decltype(cuCtxPushCurrent)> push{library, "cuCtxPushCurrent_v2"};
  Found<decltype(cuCtxPopCurrent)> pop{library, "cuCtxPopCurrent_v2"};
  Found<decltype(cuMemAlloc)> allocate{library, "cuMemAlloc_v2"};
  Found<decltype(cuStreamCreate)> create_stream{library, "cuStreamCreate"};
  Found<decltype(cuMemcpyHtoDAsync)> copy{library, "cuMemcpyHtoDAsync_v2"};
  Found<decltype(cuStreamSynchronize)> synchronize{library, "cuStreamSynchronize"};
  Found<decltype(cuStreamDestroy)> destroy_stream{library, "cuStreamDestroy_v2"};
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

// In memory that is never freed, because graphs may use it. On a stream of its own, which waits for nothing
// and is no part of a capture.
CUdeviceptr new_ones(std::size_t count) {
  const std::vector<float> values(count, 1.0f);
  const std::size_t bytes = count * sizeof(float);
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  if (!driver().create_stream(&stream, CU_STREAM_NON_BLOCKING)) {
    return 0;
  }
  const bool done = driver().allocate(&memory, bytes) &&
                    driver().copy(memory, values.data(), bytes, stream) && driver().synchronize(stream);
  driver().destroy_stream(stream);
  return done ? memory : 0;
}

struct Ones {
  CUdeviceptr memory = 0;
  std::size_t count = 0;
};

}  // namespace

bool is_capturing(cudaStream_t stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver().is_capturing(stream, &status) && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

RelaxedCapture::RelaxedCapture() : before_(exchange_mode(CU_STREAM_CAPTURE_MODE_RELAXED)) {}
RelaxedCapture::~RelaxedCapture() { exchange_mode(before_); }

const float* ones(cudaStream_t stream, std::size_t count) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<std::pair<CUcontext, unsigned long long>, Ones>;
  CUcontext context = nullptr;
  unsigned long long id = 0;  // a handle may come again
  if (!driver().context_of(stream, &context) || context == nullptr) {
    throw Error(Status::device_error, "a stream without a CUDA context");
  }
  driver().id_of(context, &id);
  const std::lock_guard lock(mutex);
  Ones& kept = all[{context, id}];
  if (kept.count < count) {
    constexpr std::size_t least = 1 << 16;
    const std::size_t enough = std::bit_ceil(std::max(count, least));
    const RelaxedCapture relaxed;  // another thread may be capturing
    CUcontext popped = nullptr;
    const CUdeviceptr memory = driver().push(context) ? new_ones(enough) : 0;
    driver().pop(&popped);
    if (memory == 0) {
      throw Error(Status::out_of_memory, "no device memory for " + std::to_string(enough) + " ones");
    }
    kept = {memory, enough};
  }
  return reinterpret_cast<const float*>(kept.memory);
}

}  // namespace duogemm::cublas
