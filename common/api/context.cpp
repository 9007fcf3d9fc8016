// The call on host memory, and the choice of a default device.
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "device/device_selection.h"
#include "device/memory_limit.h"
#include "duogemm/sgemm.hpp"
#include "host_memory/elements.h"
#include "host_memory/host_call.h"
#include "problem/element_type.h"
#include "problem/problem.h"
#include "runtime/call_recorder.h"
#include "system/process.h"
#include "system/this_process.h"

namespace duogemm {
namespace {

void report_done(const ProgressListener& progress) {
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
      : device_memory_(options.device_memory > 0 ? options.device_memory : device_memory_limit()),
        selected_(select_device(device)),
        open_(open().release()) {}
  // Nobody could take back what was opened before a fork.
  ~Implementation() {
    if (OpenDevice* const open = open_; open->forks == forks()) {
      delete open;
    }
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  std::string device_name() const { return open_.load()->runtime.device().info().name; }

  WarmUp warm() { return here().runtime.warm(); }

  // `operands` are the caller's.
  void multiply(const Sgemm& request, const HostOperands& operands, const ProgressListener& progress) {
    const OpenDevice& known = *open_;
    if (known.forks == forks() && known.call->multiply_again(request, operands)) {
      report_done(progress);
      record_call(request, CallMemory::host);
    } else {
      multiply(request, BatchBy::strides, operands, progress);
    }
  }

  // A small product waits for what this keeps on the stack, if it is a part of the other.
  [[gnu::noinline]] void multiply(const Sgemm& request, BatchBy batch_by, HostOperands operands,
                                  const ProgressListener& progress) {
    const auto [problem, swapped] = to_column_major(request, batch_by);
    if (problem.is_empty()) {
      report_done(progress);
      return;
    }
    require_pointers(problem, operands);
    if (swapped) {
      std::swap(operands.a, operands.b);
      std::swap(operands.a_list, operands.b_list);
    }
    HostCall& call = *here().call;
    if (is_narrow(problem.a_type) || is_narrow(problem.b_type) || is_narrow(problem.c_type)) {
      multiply_narrow(call, problem, operands, progress);
    } else {
      call.multiply(problem, operands, progress);
    }
    record_call(request, CallMemory::host,
                batch_by == BatchBy::strides ? CallBatch::strides : CallBatch::lists);
  }

 private:
  // A device that is open in one process.
  struct OpenDevice {
    OpenDevice(std::unique_ptr<Device> device, std::optional<std::size_t> device_memory)
        : runtime(std::move(device)), call(make_host_call(runtime, device_memory)) {}

    const int forks = duogemm::forks();
    Runtime runtime;
    const std::unique_ptr<HostCall> call;
  };

  std::unique_ptr<OpenDevice> open() const {
    const Backend& backend = *selected_.backend;
    const auto no_forks = backend.has_driver() ? std::unique_lock<std::mutex>() : hold_off_forks();
    return std::make_unique<OpenDevice>(backend.open(selected_.index, {}), device_memory_);
  }

  // After a fork the device is opened anew, where no driver stands in the way: its threads, and the holders
  // of its locks, are in another process.
  OpenDevice& here() {
    OpenDevice* known = open_;
    if (known->forks == forks()) {
      return *known;
    }
    if (selected_.backend->has_driver()) {
      require_devices_work_here();
    }
    std::unique_ptr<OpenDevice> opened = open();
    // Another thread may have been faster.
    return open_.compare_exchange_strong(known, opened.get()) ? *opened.release() : *known;
  }

  const std::optional<std::size_t> device_memory_;
  const SelectedDevice selected_;
  std::atomic<OpenDevice*> open_;
};

Context::Context(const std::string& device, const ContextOptions& options)
    : implementation_(std::make_unique<Implementation>(device, options)) {}
Context::~Context() = default;

std::string Context::device_name() const { return implementation_->device_name(); }

WarmUp Context::warm() { return implementation_->warm(); }

void Context::sgemm(const Sgemm& request, const void* a, const void* b, void* c,
                    const ProgressListener& progress) {
  implementation_->multiply(
      request,
      {.a = static_cast<const float*>(a), .b = static_cast<const float*>(b), .c = static_cast<float*>(c)},
      progress);
}

void Context::sgemm_batched(const Sgemm& request, const float* const* a, const float* const* b,
                            float* const* c, const ProgressListener& progress) {
  implementation_->multiply(request, BatchBy::addresses, {.a_list = a, .b_list = b, .c_list = c}, progress);
}

namespace {

std::atomic<Context*> shared_context = nullptr;

Context& default_context() {
  if (Context* const made = shared_context) {
    return *made;
  }
  require_devices_work_here();  // or the guard may never be released
  static const std::unique_ptr<Context, void (*)(Context*)> context(new Context, [](Context* kept) {
    if (threads_run_at_exit()) {
      delete kept;
    }
  });
  shared_context = context.get();
  return *context;
}

// A call with nothing to do needs no default context: after a fork there may be none.
bool needs_no_context(const Sgemm& request, BatchBy batch_by, const ProgressListener& progress) {
  if (shared_context == nullptr && to_column_major(request, batch_by).problem.is_empty()) {
    report_done(progress);
    return true;
  }
  return false;
}

}  // namespace

void sgemm(const Sgemm& problem, const void* a, const void* b, void* c, const ProgressListener& progress) {
  if (!needs_no_context(problem, BatchBy::strides, progress)) {
    default_context().sgemm(problem, a, b, c, progress);
  }
}

void sgemm_batched(const Sgemm& problem, const float* const* a, const float* const* b, float* const* c,
                   const ProgressListener& progress) {
  if (!needs_no_context(problem, BatchBy::addresses, progress)) {
    default_context().sgemm_batched(problem, a, b, c, progress);
  }
}

WarmUp warm() { return default_context().warm(); }

}  // namespace duogemm
