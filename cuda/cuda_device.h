// One CUDA device with its primary context: buffers, streams and modules.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "device/backend.h"

namespace duogemm::cuda {

// --- NVIDIA's driver, loaded when it is first asked for, so that programs start without it -----------------

// The driver functions in use. cuda.h renames some of them by macros (cuMemAlloc is cuMemAlloc_v2); the
// table's members are named, and the symbols looked up, as the macros say.
#define DUOGEMM_DRIVER_FUNCTIONS(X)              \
  X(cuInit)                                      \
  X(cuDriverGetVersion)                          \
  X(cuGetErrorName)                              \
  X(cuGetErrorString)                            \
  X(cuDeviceGetCount)                            \
  X(cuDeviceGet)                                 \
  X(cuDeviceGetName)                             \
  X(cuDeviceGetAttribute)                        \
  X(cuDeviceGetPCIBusId)                         \
  X(cuDeviceTotalMem)                            \
  X(cuDevicePrimaryCtxRetain)                    \
  X(cuDevicePrimaryCtxRelease)                   \
  X(cuCtxPushCurrent)                            \
  X(cuCtxGetDevice)                              \
  X(cuStreamGetCtx)                              \
  X(cuStreamIsCapturing)                         \
  X(cuCtxPopCurrent)                             \
  X(cuMemAlloc)                                  \
  X(cuMemFree)                                   \
  X(cuMemHostAlloc)                              \
  X(cuMemFreeHost)                               \
  X(cuMemcpyHtoDAsync)                           \
  X(cuMemcpyDtoHAsync)                           \
  X(cuModuleLoadData)                            \
  X(cuModuleUnload)                              \
  X(cuModuleGetFunction)                         \
  X(cuFuncSetCacheConfig)                        \
  X(cuFuncGetAttribute)                          \
  X(cuFuncSetAttribute)                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuLaunchKernel)                              \
  X(cuStreamCreate)                              \
  X(cuStreamDestroy)                             \
  X(cuStreamSynchronize)                         \
  X(cuEventCreate)                               \
  X(cuEventDestroy)                              \
  X(cuEventRecord)                               \
  X(cuEventSynchronize)                          \
  X(cuEventElapsedTime)                          \
  X(cuStreamBeginCapture)                        \
  X(cuStreamEndCapture)                          \
  X(cuGraphInstantiateWithFlags)                 \
  X(cuGraphLaunch)                               \
  X(cuGraphExecDestroy)                          \
  X(cuThreadExchangeStreamCaptureMode)           \
  X(cuUserObjectCreate)                          \
  X(cuUserObjectRelease)                         \
  X(cuGraphRetainUserObject)                     \
  X(cuGraphDestroy)

struct Driver {
#define DUOGEMM_DRIVER_MEMBER(name) decltype(&::name) name;
  DUOGEMM_DRIVER_FUNCTIONS(DUOGEMM_DRIVER_MEMBER)
#undef DUOGEMM_DRIVER_MEMBER
  // Null before CUDA 12: numbers that no other context or stream ever has, while handles may come again.
  CUresult (*cuCtxGetId)(CUcontext, unsigned long long*);
  CUresult (*cuStreamGetId)(CUstream, unsigned long long*);
  // Null before CUDA 12.3: their edges (CUgraphEdgeData) say which kernels are started early.
  CUresult (*cuStreamGetCaptureInfo_v3)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                        const CUgraphNode**, const void**, std::size_t*);
  CUresult (*cuGraphNodeGetDependencies_v2)(CUgraphNode, CUgraphNode*, void*, std::size_t*);
  CUresult (*cuStreamGetCaptureInfo_v2)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                        const CUgraphNode**, std::size_t*);
  // Null in drivers that cannot start a kernel early, in streams and in graphs.
#if CUDA_VERSION >= 12030
  decltype(&::cuLaunchKernelEx) cuLaunchKernelEx;
#endif
  // Null before CUDA 12.4.
#if CUDA_VERSION >= 12040
  decltype(&::cuCtxGetDevResource) cuCtxGetDevResource;
#endif
#if CUDA_VERSION < 13000
  decltype(&::cuFuncSetSharedMemConfig) cuFuncSetSharedMemConfig;
#endif
};

// The initialised driver; null where there is none, or where it is too old for this build's toolkit.
const Driver* driver();

// Why there is none; empty when there is one.
const std::string& driver_absence();

// Throws the error that a result other than CUDA_SUCCESS stands for; `call` is the text of the call.
void check(CUresult result, const char* call);

// Calls a function of the driver and checks what it returns: DUOGEMM_CUDA(cuMemFree(pointer)).
#define DUOGEMM_CUDA(...) ::duogemm::cuda::check(::duogemm::cuda::driver()->__VA_ARGS__, #__VA_ARGS__)

// --- Devices -----------------------------------------------------------------------------------------------

// 0 where there is no driver.
std::size_t device_count();

CUdevice device_at(std::size_t index);

DeviceInfo describe(CUdevice device, std::size_t index);

// The toolkit that it was built with, NVRTC, and the driver.
Versions versions();

// "CUDA toolkit 13.0, NVRTC 13.0"
std::string toolkit_version();

class DeviceContext;
using SharedContext = std::shared_ptr<const DeviceContext>;

// What calls keep between their commands while these are captured. A piece of it lives as long as the graph
// that it was lent for, its copies and its executables: all of them hold a user object of the driver's, whose
// end tells that the piece is free (CUDA C++ Programming Guide, "CUDA User Objects"). Any thread may call.
class GraphMemory {
 public:
  GraphMemory();

  // So many bytes at least, for what is put on the captured stream as long as the result lives. A later call
  // of the same capture gets the same piece if its commands run after these. Throws out_of_memory.
  std::unique_ptr<Buffer> lend(const SharedContext& context, CUstream stream, std::size_t bytes);

  // Tells whether there are pieces that no graph has any more.
  bool has_unused() const;
  // Frees them, which waits for the device.
  void free_unused();

 private:
  struct Piece;
  struct Pool;
  class Lent;

  std::shared_ptr<Pool> pool_;  // user objects share it: they may end later than this
};

// A CUDA context: a device's primary one, shared with the CUDA runtime and with cuBLAS and retained while
// this lives, or one that somebody else owns.
class DeviceContext {
 public:
  explicit DeviceContext(CUdevice device) : retained_(device) {
    DUOGEMM_CUDA(cuDevicePrimaryCtxRetain(&context_, device));
  }
  explicit DeviceContext(CUcontext borrowed) : context_(borrowed) {}
  ~DeviceContext() {
    if (retained_) {
      driver()->cuDevicePrimaryCtxRelease(*retained_);
    }
  }
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;
  CUcontext get() const { return context_; }
  GraphMemory& graph_memory() const { return graph_memory_; }

 private:
  std::optional<CUdevice> retained_;
  CUcontext context_ = nullptr;
  mutable GraphMemory graph_memory_;
};

// Makes the context current for a scope, and puts back what the caller had. Meanwhile this thread may do what
// is forbidden while a stream is captured, as long as it leaves that stream alone, such as allocating memory
// and loading a kernel: otherwise the driver would end the capture, whichever thread began it.
class CurrentContext {
 public:
  explicit CurrentContext(const SharedContext& context) {
    DUOGEMM_CUDA(cuCtxPushCurrent(context->get()));
    driver()->cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~CurrentContext() {
    driver()->cuThreadExchangeStreamCaptureMode(&mode_);
    CUcontext popped = nullptr;
    driver()->cuCtxPopCurrent(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // afterwards what the thread had
};

std::unique_ptr<Device> open_device(const SharedContext& context, const DeviceInfo& info,
                                    const DeviceOptions& options);

// A device, a queue and a buffer on what the caller owns: none of them frees anything of the caller's.
std::unique_ptr<Device> borrow_context(const SharedContext& context);
std::unique_ptr<Queue> borrow_stream(const SharedContext& context, CUstream stream);
std::unique_ptr<Buffer> borrow_memory(const SharedContext& context, const void* pointer);

// Calls `enqueue` and records what it puts on the stream in place of executing it. The recording goes back to
// the same stream, which must outlive it.
std::unique_ptr<Recording> record(const SharedContext& context, CUstream stream,
                                  const std::function<void()>& enqueue);

}  // namespace duogemm::cuda
