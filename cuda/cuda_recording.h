// Commands of a stream, recorded as a CUDA graph.
#pragma once

#include "cuda_device.h"

namespace duogemm::cuda {

// Calls `enqueue` and records what it puts on the stream in place of executing it. The recording goes back to
// the same stream, which must outlive it.
std::unique_ptr<Recording> record(const SharedContext& context, CUstream stream,
                                  const std::function<void()>& enqueue);

}  // namespace duogemm::cuda
