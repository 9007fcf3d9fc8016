// The entry point on the caller's own stream and device pointers.
#include <map>
#include <mutex>

#include "cuda_backend.h"
#include "cuda_device.h"
#include "duogemm/cuda.hpp"
#include "problem.h"
#include "runtime.h"

namespace duogemm::cuda {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

// What is kept for a context that calls have come from.
struct Kept {
  SharedContext context;
  std::unique_ptr<Runtime> runtime;
};

// Never destroyed: at the end of the process the driver may be gone before us.
Kept& kept_for(CUcontext context) {
  static std::mutex& mutex = *new std::mutex;
  static std::map<CUcontext, Kept>& all = *new std::map<CUcontext, Kept>;
  const std::lock_guard lock(mutex);
  Kept& kept = all[context];
  if (!kept.runtime) {
    kept.context = std::make_shared<const DeviceContext>(context);
    kept.runtime = std::make_unique<Runtime>(borrow_context(kept.context));
  }
  return kept;
}

CUcontext context_of(CUstream stream) {
  if (driver() == nullptr) {
    throw Error(Status::unsupported, "an NVIDIA driver; none was found");
  }
  CUcontext context = nullptr;
  DUOGEMM_CUDA(cuStreamGetCtx(stream, &context));
  if (context == nullptr) {
    reject("stream is null and no CUDA context is current to this thread");
  }
  return context;
}

}  // namespace

void sgemm(CUstream_st* stream, const Sgemm& request, const float* a, const float* b, float* c) {
  const auto [problem, exchanged] = to_column_major(request);
  if (problem.is_empty()) {
    return;
  }
  if (c == nullptr || (problem.multiplies() && (a == nullptr || b == nullptr))) {
    reject(std::string(c == nullptr ? "c" : a == nullptr ? "a" : "b") + " is null");
  }
  if (exchanged) {
    std::swap(a, b);
  }
  Kept& kept = kept_for(context_of(stream));
  const auto queue = borrow_stream(kept.context, stream);
  const auto ours_a = borrow_memory(kept.context, a);
  const auto ours_b = borrow_memory(kept.context, b);
  const auto ours_c = borrow_memory(kept.context, c);
  kept.runtime->enqueue(problem, *queue, {{{ours_a.get()}, {ours_b.get()}, {ours_c.get()}}});
}

}  // namespace duogemm::cuda
