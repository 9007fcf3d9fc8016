// The call on host memory, and the choice of a default device.
#include <utility>

#include "api/call_recorder.h"
#include "api/host_call.h"
#include "device/device_selection.h"
#include "duogemm/sgemm.hpp"
#include "problem/problem.h"
#include "system/process.h"

namespace duogemm {

class Context::Implementation {
 public:
  explicit Implementation(const std::string& device)
      : runtime_(open_selected_device(device)), call_(make_host_call(runtime_)) {}

  std::string device_name() { return runtime_.device().info().name; }

  WarmUp warm() {
    require_devices_work_here();
    return runtime_.warm();
  }

  // `problem` is column-major.
  void multiply(const Problem& problem, const HostOperands& operands) {
    require_devices_work_here();
    call_->multiply(problem, operands);
  }

 private:
  Runtime runtime_;
  std::unique_ptr<HostCall> call_;
};

Context::Context(const std::string& device) : implementation_(std::make_unique<Implementation>(device)) {}
Context::~Context() {
  if (!devices_work_here()) {
    static_cast<void>(implementation_.release());  // no driver could take back what is in it
  }
}

std::string Context::device_name() const { return implementation_->device_name(); }

WarmUp Context::warm() { return implementation_->warm(); }

void Context::sgemm(const Sgemm& request, const float* a, const float* b, float* c) {
  const auto [problem, exchanged] = to_column_major(request);
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  if (exchanged) {
    std::swap(a, b);
  }
  implementation_->multiply(problem, {.a = a, .b = b, .c = c});
  record_call(request, CallMemory::host);
}

void Context::sgemm_batched(const Sgemm& request, const float* const* a, const float* const* b,
                            float* const* c) {
  const auto [problem, exchanged] = to_column_major(request, BatchBy::addresses);
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    require_pointers(problem, problem.multiplies() ? a[i] : nullptr, problem.multiplies() ? b[i] : nullptr,
                     c[i]);
  }
  if (exchanged) {
    std::swap(a, b);
  }
  implementation_->multiply(problem, {.a_list = a, .b_list = b, .c_list = c});
  record_call(request, CallMemory::host, CallBatch::lists);
}

namespace {

Context& default_context() {
  static Context context;
  return context;
}

}  // namespace

void sgemm(const Sgemm& problem, const float* a, const float* b, float* c) {
  default_context().sgemm(problem, a, b, c);
}

void sgemm_batched(const Sgemm& problem, const float* const* a, const float* const* b, float* const* c) {
  default_context().sgemm_batched(problem, a, b, c);
}

WarmUp warm() { return default_context().warm(); }

}  // namespace duogemm
