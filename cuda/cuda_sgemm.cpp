// The entry point on the caller's own stream and device pointers.
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "cuda_backend.h"
#include "cuda_device.h"
#include "duogemm/cuda.hpp"
#include "problem/element_type.h"
#include "problem/precision.h"
#include "problem/problem.h"
#include "runtime/call_recorder.h"
#include "runtime/runtime.h"
#include "system/process.h"
#include "system/reject.h"

namespace duogemm::cuda {
namespace {

// This is kept for a context that calls have come from.
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
  require_devices_work_here();
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

void require_split_terms(const Sgemm& request) {
  if (request.precision == Precision::fp32) {
    reject("precision is fp32; an operand is prepared for bf16x6 or f16x3");
  }
}

// The caller's operands, where the problem's may be swapped.
void set_prepared(ColumnMajor& call, bool a, bool b) {
  call.problem.a_prepared = call.swapped ? b : a;
  call.problem.b_prepared = call.swapped ? a : b;
}

ColumnMajor preparation(const Sgemm& request, PreparedOperand which) {
  require_split_terms(request);
  ColumnMajor call = to_column_major(request);
  set_prepared(call, which == PreparedOperand::a, which == PreparedOperand::b);
  return call;
}

ColumnMajor with_epilogue(const Epilogue& epilogue, const Sgemm& request, CallBatch members,
                          const Prepared& prepared) {
  ColumnMajor call = to_column_major(request, members, BatchBy::addresses);
  if (prepared.a != nullptr || prepared.b != nullptr) {
    require_split_terms(request);
    if (prepared.a != nullptr && prepared.b != nullptr) {
      reject("both operands are prepared; one may be");
    }
    set_prepared(call, prepared.a != nullptr, prepared.b != nullptr);
    if (call.problem.is_grouped() && call.problem.b_prepared) {
      reject("the operand whose rows or columns are in groups is prepared; the other may be");
    }
  }
  Problem& p = call.problem;
  if ((epilogue.alpha == nullptr) != (epilogue.beta == nullptr)) {
    reject("alpha and beta must both be in device memory, or neither");
  }
  p.device_scalars = epilogue.alpha != nullptr;
  if (p.device_scalars) {
    p.alpha = p.beta = 1.0f;
  }
  p.addend_apart = epilogue.addend != nullptr && p.beta != 0.0f;
  if (p.addend_apart) {
    if (epilogue.addend_ld == 0) {  // which would repeat one column
      reject("the leading dimension of the addend is 0; it must be at least " + std::to_string(p.m));
    }
    p.addend_ld = epilogue.addend_ld;
    p.addend_stride = epilogue.addend_stride;
  }
  p.activation = epilogue.activation;
  // The kernel that multiplies may add it, as an addend of FP32.
  if (epilogue.bias != nullptr && p.beta == 0.0f && !is_narrow(p.c_type)) {
    p.beta = 1.0f;
    p.addend_apart = true;
    p.addend_stride = epilogue.bias_stride;
  } else if (epilogue.bias != nullptr) {
    p.bias = true;
    p.bias_stride = epilogue.bias_stride;
  }
  if (p.is_grouped()) {  // valid ones, which mean nothing
    p.addend_stride = p.bias_stride = 0;
  }
  if (p.batch_by != BatchBy::strides && (p.addend_apart || p.bias || p.activation != Activation::none)) {
    reject(
        "a batch by lists has an addend, a bias or an activation; its epilogue may have alpha and beta "
        "alone");
  }
  validate(p);
  return call;
}

std::size_t workspace_bytes(CUstream stream, const Sgemm& request, CallBatch members,
                            const Epilogue& epilogue, const Prepared& prepared = {}) {
  const Problem problem = with_epilogue(epilogue, request, members, prepared).problem;
  return problem.is_empty() ? 0 : kept_for(context_of(stream)).runtime->workspace_bytes(problem);
}

// Kernels read whole elements: from another address they would end the context.
void require_aligned(const char* name, const void* pointer, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % bytes != 0) {
    reject(std::string(name) + " is not at a multiple of " + std::to_string(bytes) + " bytes");
  }
}

constexpr std::size_t prepared_alignment = 256;

// `ends` are those of groups.
void multiply(CUstream stream, const Sgemm& request, CallBatch members, const void* a, const void* b,
              const void* c, const Epilogue& epilogue, const std::optional<Workspace>& workspace,
              const Prepared& prepared = {}, const std::int32_t* ends = nullptr) {
  const auto [problem, swapped] = with_epilogue(epilogue, request, members, prepared);
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  if (problem.is_grouped()) {
    if (ends == nullptr) {
      reject("the ends of the groups are null");
    }
    require_aligned("the ends of the groups", ends, sizeof *ends);
  }
  const bool listed = members == CallBatch::lists;
  if (!listed) {
    require_aligned("a", a, bytes_of(request.a_type));
    require_aligned("b", b, bytes_of(request.b_type));
    require_aligned("c", c, bytes_of(request.c_type));
  }
  const Kept& kept = kept_for(context_of(stream));
  require_aligned("the addend", epilogue.addend, bytes_of(request.c_type));
  require_aligned("the bias", epilogue.bias, sizeof(float));
  require_aligned("alpha", epilogue.alpha, sizeof(float));
  require_aligned("beta", epilogue.beta, sizeof(float));
  require_aligned("the prepared A", prepared.a, prepared_alignment);
  require_aligned("the prepared B", prepared.b, prepared_alignment);
  std::array<std::unique_ptr<Buffer>, first_workspace> buffers;  // on the caller's memory
  PreparedPlan::Operands operands;
  const auto add = [&](Operand operand, const void* pointer) {
    const auto slot = static_cast<std::size_t>(operand.slot);
    if (pointer != nullptr) {
      buffers[slot] = borrow_memory(kept.context, pointer);
      operands[slot] = {buffers[slot].get()};
    }
  };
  const auto add_matrix = [&](Operand operand, Operand table, const void* pointer) {
    if (listed) {  // the table tells where in all of the device's memory
      operands[static_cast<std::size_t>(operand.slot)] = {kept.everything.get()};
    }
    add(listed ? table : operand, pointer);
  };
  add_matrix(operand_a, table_a, swapped ? b : a);
  add_matrix(operand_b, table_b, swapped ? a : b);
  add_matrix(operand_c, table_c, c);
  const bool bias_is_addend = epilogue.bias != nullptr && !problem.bias;
  add(operand_addend, bias_is_addend ? epilogue.bias : epilogue.addend);
  add(operand_bias, epilogue.bias);
  add(operand_alpha, epilogue.alpha);
  add(operand_beta, epilogue.beta);
  add(operand_ends, ends);
  add(operand_prepared_a, swapped ? prepared.b : prepared.a);
  add(operand_prepared_b, swapped ? prepared.a : prepared.b);
  const auto queue = borrow_stream(kept.context, stream);
  GraphMemory& of_graphs = kept.context->graph_memory();
  if (of_graphs.has_unused() && !queue->state().capturing) {
    const CurrentContext current(kept.context);
    of_graphs.free_unused();
  }
  kept.runtime->enqueue(problem, *queue, operands, lend(kept, workspace));
  record_call(request, CallMemory::device, members);
}

}  // namespace

void sgemm_with_epilogue(CUstream_st* stream, const Sgemm& request, const void* a, const void* b, void* c,
                         const Epilogue& epilogue, const std::optional<Workspace>& workspace) {
  multiply(stream, request, CallBatch::strides, a, b, c, epilogue, workspace);
}

void sgemm_batched_with_epilogue(CUstream_st* stream, const Sgemm& request, const float* const* a,
                                 const float* const* b, float* const* c, const Epilogue& epilogue,
                                 const std::optional<Workspace>& workspace) {
  multiply(stream, request, CallBatch::lists, a, b, c, epilogue, workspace);
}

void sgemm_grouped(CUstream_st* stream, const Sgemm& request, const std::int32_t* ends, const void* a,
                   const void* b, void* c, const Prepared& prepared, const Epilogue& epilogue,
                   const std::optional<Workspace>& workspace) {
  multiply(stream, request, CallBatch::groups, a, b, c, epilogue, workspace, prepared, ends);
}

void sgemm_prepared(CUstream_st* stream, const Sgemm& request, const void* a, const void* b, void* c,
                    const Prepared& prepared, const Epilogue& epilogue,
                    const std::optional<Workspace>& workspace) {
  multiply(stream, request, CallBatch::strides, a, b, c, epilogue, workspace, prepared);
}

std::size_t prepared_bytes(CUstream_st* stream, const Sgemm& request, PreparedOperand which) {
  const Problem problem = preparation(request, which).problem;
  return kept_for(context_of(stream)).runtime->prepared_bytes(problem);
}

void prepare(CUstream_st* stream, const Sgemm& request, PreparedOperand which, const void* matrix, void* to) {
  const Problem problem = preparation(request, which).problem;
  const Kept& kept = kept_for(context_of(stream));
  if (kept.runtime->prepared_bytes(problem) == 0) {
    return;
  }
  const bool is_a = which == PreparedOperand::a;
  if (matrix == nullptr || to == nullptr) {
    reject(matrix == nullptr ? "the matrix to prepare is null"
                             : "the memory of the prepared operand is null");
  }
  require_aligned("the matrix to prepare", matrix, bytes_of(is_a ? request.a_type : request.b_type));
  require_aligned("the memory of the prepared operand", to, prepared_alignment);
  const auto from = borrow_memory(kept.context, matrix), terms = borrow_memory(kept.context, to);
  PreparedPlan::Operands operands;
  const auto slot = [](Operand operand) { return static_cast<std::size_t>(operand.slot); };
  operands[slot(problem.a_prepared ? operand_a : operand_b)] = {from.get()};
  operands[slot(problem.a_prepared ? operand_prepared_a : operand_prepared_b)] = {terms.get()};
  kept.runtime->enqueue_preparation(problem, *borrow_stream(kept.context, stream), operands);
}

void sgemm(CUstream_st* stream, const Sgemm& request, const void* a, const void* b, void* c,
           const std::optional<Workspace>& workspace) {
  multiply(stream, request, CallBatch::strides, a, b, c, {}, workspace);
}

void sgemm_batched(CUstream_st* stream, const Sgemm& request, const float* const* a, const float* const* b,
                   float* const* c, const std::optional<Workspace>& workspace) {
  multiply(stream, request, CallBatch::lists, a, b, c, {}, workspace);
}

WarmUp warm(CUstream_st* stream) {
  const Kept& kept = kept_for(context_of(stream));
  return kept.runtime->warm(*borrow_stream(kept.context, stream));
}

std::size_t sgemm_workspace_bytes(CUstream_st* stream, const Sgemm& request, const Epilogue& epilogue,
                                  const Prepared& prepared) {
  return workspace_bytes(stream, request, CallBatch::strides, epilogue, prepared);
}

std::size_t sgemm_grouped_workspace_bytes(CUstream_st* stream, const Sgemm& request, const Epilogue& epilogue,
                                          const Prepared& prepared) {
  return workspace_bytes(stream, request, CallBatch::groups, epilogue, prepared);
}

std::size_t sgemm_batched_workspace_bytes(CUstream_st* stream, const Sgemm& request,
                                          const Epilogue& epilogue) {
  return workspace_bytes(stream, request, CallBatch::lists, epilogue);
}

}  // namespace duogemm::cuda
