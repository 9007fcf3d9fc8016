// The libraries that a build may have to compare with. Each makes itself where it applies to the device, and
// answers null elsewhere.
#pragma once

#include "references/reference.h"

namespace duogemm::bench {

// A library is made of these: those in the host's memory need no device and no queue.
struct Surroundings {
  const DeviceInfo& info;
  Device* device;
  Queue* queue;
  std::size_t host_threads;
};

using MakeLibrary = std::unique_ptr<ReferenceLibrary>(const Surroundings& of);

MakeLibrary make_cublas, make_cublaslt, make_cublasxt;
// Each multiplies FP32 matrices in another way than FP32.
MakeLibrary make_cublas_tf32, make_cublas_emulation, make_cublas_fp16;
MakeLibrary make_clblast;
MakeLibrary make_openblas;

}  // namespace duogemm::bench
