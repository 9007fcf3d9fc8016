// NVIDIA's driver, loaded when it is first asked for, so that programs start without it.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

#include "duogemm/error.h"

namespace duogemm::cuda {

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

}  // namespace duogemm::cuda

// Calls a function of the driver and checks what it returns: DUOGEMM_CUDA(cuMemFree(pointer)).
#define DUOGEMM_CUDA(...) ::duogemm::cuda::check(::duogemm::cuda::driver()->__VA_ARGS__, #__VA_ARGS__)
