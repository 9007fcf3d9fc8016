// The entry point on the caller's own stream and device pointers.
#include <map>
#include <mutex>
#include <optional>

#include "api/call_recorder.h"
#include "cuda_backend.h"
#include "cuda_device.h"
#include "duogemm/cuda.hpp"
#include "problem/problem.h"
#include "runtime/runtime.h"
#include "system/reject.h"

namespace duogemm::cuda {
namespace {

// What is kept for a context that calls have come from.
struct Kept {
  SharedContext context;
  std::unique_ptr<Buffer> everything;  // memory from the null address on
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
    kept.everything = borrow_memory(kept.context, nullptr);
    kept.runtime = std::make_unique<Runtime>(borrow_context(kept.context));
  }
  return kept;
}

CUcontext context_of(CUstream stream) {
  if (driver() == nullptr) {
    throw Error(Status::unsupported, "CUDA needs an NVIDIA driver; none was found");
  }
  CUcontext context = nullptr;
  DUOGEMM_CUDA(cuStreamGetCtx(stream, &context));
  if (context == nullptr) {
    throw Error(Status::invalid_argument, "stream is null and no CUDA context is current to this thread");
  }
  return context;
}

ColumnMajor by_addresses(const Sgemm& request) { return to_column_major(request, BatchBy::addresses); }

std::optional<LentWorkspace> lend(const Kept& kept, const std::optional<Workspace>& workspace) {
  if (!workspace) {
    return std::nullopt;
  }
  if (workspace->pointer == nullptr) {
    return LentWorkspace{};
  }
  return LentWorkspace{kept.everything.get(), reinterpret_cast<std::uintptr_t>(workspace->pointer),
                       workspace->bytes};
}

std::size_t workspace_bytes(CUstream stream, const Problem& problem) {
  return problem.is_empty() ? 0 : kept_for(context_of(stream)).runtime->workspace_bytes(problem);
}

// The problem with the bias, which is not read where beta is zero.
ColumnMajor with_bias(ColumnMajor call, const std::optional<Bias>& bias) {
  call.problem.bias = bias && call.problem.beta != 0.0f;
  call.problem.bias_stride = call.problem.bias ? bias->stride : 0;
  return call;
}

// Without a workspace: in the library's own.
void multiply(CUstream stream, const Sgemm& request, const float* a, const float* b, float* c,
              const std::optional<Bias>& bias, const std::optional<Workspace>& workspace) {
  const auto [problem, swapped] = with_bias(to_column_major(request), bias);
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  if (problem.bias) {
    validate(problem);
    if (bias->pointer == nullptr) {
      reject("bias is null");
    }
  }
  const Kept& kept = kept_for(context_of(stream));
  const auto queue = borrow_stream(kept.context, stream);
  const auto ours_a = borrow_memory(kept.context, swapped ? b : a);
  const auto ours_b = borrow_memory(kept.context, swapped ? a : b);
  const auto ours_c = borrow_memory(kept.context, c);
  const auto ours_bias = problem.bias ? borrow_memory(kept.context, bias->pointer) : nullptr;
  PreparedPlan::Operands operands = {{{ours_a.get()}, {ours_b.get()}, {ours_c.get()}}};
  operands[static_cast<std::size_t>(operand_bias.slot)] = {ours_bias.get()};
  kept.runtime->enqueue(problem, *queue, operands, lend(kept, workspace));
  record_call(request, CallMemory::device);
}

void multiply_batched(CUstream stream, const Sgemm& request, const float* const* a, const float* const* b,
                      float* const* c, const std::optional<Workspace>& workspace) {
  const auto [problem, swapped] = by_addresses(request);
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  const Kept& kept = kept_for(context_of(stream));
  const auto queue = borrow_stream(kept.context, stream);
  const auto table_a = borrow_memory(kept.context, swapped ? b : a);
  const auto table_b = borrow_memory(kept.context, swapped ? a : b);
  const auto table_c = borrow_memory(kept.context, c);
  kept.runtime->enqueue(problem, *queue,
                        {{{kept.everything.get()},
                          {kept.everything.get()},
                          {kept.everything.get()},
                          {table_a.get()},
                          {table_b.get()},
                          {table_c.get()}}},
                        lend(kept, workspace));
  record_call(request, CallMemory::device, CallBatch::lists);
}

}  // namespace

void sgemm(CUstream_st* stream, const Sgemm& request, const float* a, const float* b, float* c) {
  multiply(stream, request, a, b, c, {}, {});
}

void sgemm_batched(CUstream_st* stream, const Sgemm& request, const float* const* a, const float* const* b,
                   float* const* c) {
  multiply_batched(stream, request, a, b, c, std::nullopt);
}

WarmUp warm(CUstream_st* stream) {
  const Kept& kept = kept_for(context_of(stream));
  return kept.runtime->warm(*borrow_stream(kept.context, stream));
}

std::size_t sgemm_workspace_bytes(CUstream_st* stream, const Sgemm& request) {
  return workspace_bytes(stream, to_column_major(request).problem);
}

std::size_t sgemm_batched_workspace_bytes(CUstream_st* stream, const Sgemm& request) {
  return workspace_bytes(stream, by_addresses(request).problem);
}

void sgemm(CUstream_st* stream, const Sgemm& request, const float* a, const float* b, float* c,
           Workspace workspace) {
  multiply(stream, request, a, b, c, {}, workspace);
}

void sgemm_with_bias(CUstream_st* stream, const Sgemm& request, const float* a, const float* b, float* c,
                     Bias bias, const std::optional<Workspace>& workspace) {
  multiply(stream, request, a, b, c, bias, workspace);
}

void sgemm_batched(CUstream_st* stream, const Sgemm& request, const float* const* a, const float* const* b,
                   float* const* c, Workspace workspace) {
  multiply_batched(stream, request, a, b, c, workspace);
}

}  // namespace duogemm::cuda
