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

// What is kept for a context that calls have come from.
struct Kept {
  SharedContext context;
  std::unique_ptr<Runtime> runtime;
};

// A context that was destroyed may have left its handle to a new one, in which our modules are not loaded.
unsigned long long id_of(CUcontext context) {
  unsigned long long id = 0;
  if (driver()->cuCtxGetId != nullptr) {
    check(driver()->cuCtxGetId(context, &id), "cuCtxGetId");
  }
  return id;
}

// Never destroyed: at the end of the process the driver may be gone before us.
Kept& kept_for(CUcontext context) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<std::pair<CUcontext, unsigned long long>, Kept>;
  const std::lock_guard lock(mutex);
  Kept& kept = all[{context, id_of(context)}];
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
    throw Error(Status::invalid_argument, "stream is null and no CUDA context is current to this thread");
  }
  return context;
}

}  // namespace

void sgemm(CUstream_st* stream, const Sgemm& request, const float* a, const float* b, float* c) {
  const auto [problem, exchanged] = to_column_major(request);
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  const Kept& kept = kept_for(context_of(stream));
  const auto queue = borrow_stream(kept.context, stream);
  const auto ours_a = borrow_memory(kept.context, exchanged ? b : a);
  const auto ours_b = borrow_memory(kept.context, exchanged ? a : b);
  const auto ours_c = borrow_memory(kept.context, c);
  kept.runtime->enqueue(problem, *queue, {{{ours_a.get()}, {ours_b.get()}, {ours_c.get()}}});
}

void sgemm_batched(CUstream_st* stream, const Sgemm& request, const float* const* a, const float* const* b,
                   float* const* c) {
  auto [problem, exchanged] = to_column_major(without_strides(request));
  problem.batch_by = BatchBy::addresses;
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  const Kept& kept = kept_for(context_of(stream));
  const auto queue = borrow_stream(kept.context, stream);
  const auto everything =
      borrow_memory(kept.context, nullptr);  // the tables' addresses begin at the null address
  const auto table_a = borrow_memory(kept.context, exchanged ? b : a);
  const auto table_b = borrow_memory(kept.context, exchanged ? a : b);
  const auto table_c = borrow_memory(kept.context, c);
  kept.runtime->enqueue(problem, *queue,
                        {{{everything.get()},
                          {everything.get()},
                          {everything.get()},
                          {table_a.get()},
                          {table_b.get()},
                          {table_c.get()}}});
}

}  // namespace duogemm::cuda
