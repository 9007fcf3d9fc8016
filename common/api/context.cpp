// The call on host memory, and the choice of a default device.
#include <utility>

#include "device/device_selection.h"
#include "device/memory_limit.h"
#include "duogemm/sgemm.hpp"
#include "host_memory/host_call.h"
#include "problem/problem.h"
#include "runtime/call_recorder.h"
#include "system/process.h"

namespace duogemm {
namespace {

void report_nothing_to_do(const ProgressListener& progress) {
  if (progress) {
    progress({1.0, 0});
  }
}

void require_pointers(const Problem& problem, const HostOperands& operands) {
  if (problem.batch_by == BatchBy::strides) {
    require_pointers(problem, operands.a, operands.b, operands.c);
    return;
  }
  require_pointers(problem, operands.a_list, operands.b_list, operands.c_list);
  const bool reads = problem.multiplies();
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    require_pointers(problem, reads ? operands.a_list[i] : nullptr, reads ? operands.b_list[i] : nullptr,
                     operands.c_list[i]);
  }
}

}  // namespace

class Context::Implementation {
 public:
  Implementation(const std::string& device, const ContextOptions& options)
      : runtime_(open_selected_device(device)),
        call_(make_host_call(runtime_,
                             options.device_memory > 0 ? options.device_memory : device_memory_limit())) {}

  std::string device_name() { return runtime_.device().info().name; }

  WarmUp warm() {
    require_devices_work_here();
    return runtime_.warm();
  }

  // `operands` are the caller's.
  void multiply(const Sgemm& request, BatchBy batch_by, HostOperands operands,
                const ProgressListener& progress) {
    const auto [problem, swapped] = to_column_major(request, batch_by);
    if (problem.is_empty()) {
      report_nothing_to_do(progress);
      return;
    }
    require_pointers(problem, operands);
    if (swapped) {
      std::swap(operands.a, operands.b);
      std::swap(operands.a_list, operands.b_list);
    }
    require_devices_work_here();
    call_->multiply(problem, operands, progress);
    record_call(request, CallMemory::host,
                batch_by == BatchBy::strides ? CallBatch::strides : CallBatch::lists);
  }

 private:
  Runtime runtime_;
  std::unique_ptr<HostCall> call_;
};

Context::Context(const std::string& device, const ContextOptions& options)
    : implementation_(std::make_unique<Implementation>(device, options)) {}
Context::~Context() {
  if (!devices_work_here()) {
    static_cast<void>(implementation_.release());  // no driver could take back what is in it
  }
}

std::string Context::device_name() const { return implementation_->device_name(); }

WarmUp Context::warm() { return implementation_->warm(); }

void Context::sgemm(const Sgemm& request, const float* a, const float* b, float* c,
                    const ProgressListener& progress) {
  implementation_->multiply(request, BatchBy::strides, {.a = a, .b = b, .c = c}, progress);
}

void Context::sgemm_batched(const Sgemm& request, const float* const* a, const float* const* b,
                            float* const* c, const ProgressListener& progress) {
  implementation_->multiply(request, BatchBy::addresses, {.a_list = a, .b_list = b, .c_list = c}, progress);
}

namespace {

Context& default_context() {
  require_devices_work_here();  // or the guard may never be released
  static Context context;
  return context;
}

// After a fork there is no default context. What has nothing to do needs none.
bool has_nothing_to_do_in_child(const Sgemm& request, BatchBy batch_by) {
  return !devices_work_here() && to_column_major(request, batch_by).problem.is_empty();
}

}  // namespace

void sgemm(const Sgemm& problem, const float* a, const float* b, float* c, const ProgressListener& progress) {
  if (has_nothing_to_do_in_child(problem, BatchBy::strides)) {
    report_nothing_to_do(progress);
    return;
  }
  default_context().sgemm(problem, a, b, c, progress);
}

void sgemm_batched(const Sgemm& problem, const float* const* a, const float* const* b, float* const* c,
                   const ProgressListener& progress) {
  if (has_nothing_to_do_in_child(problem, BatchBy::addresses)) {
    report_nothing_to_do(progress);
    return;
  }
  default_context().sgemm_batched(problem, a, b, c, progress);
}

WarmUp warm() { return default_context().warm(); }

}  // namespace duogemm
