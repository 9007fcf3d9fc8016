#include "system/stack.h"

#include <cstdint>
#include <exception>

#include "system/windows/win32.h"

namespace duogemm {
namespace {

// Work that a fiber does for another, to which it goes back.
struct Errand {
  const std::function<void()>& work;
  void* sender;
  std::exception_ptr thrown;
};

void CALLBACK carry_out(void* given) {
  Errand& errand = *static_cast<Errand*>(given);
  try {
    errand.work();
  } catch (...) {
    errand.thrown = std::current_exception();
  }
  SwitchToFiber(errand.sender);
}

// GCC 12 takes what the segment register points to for the null address.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
void* current_fiber() { return GetCurrentFiber(); }
#pragma GCC diagnostic pop

}  // namespace

std::size_t stack_left() {
  ULONG_PTR begin = 0;
  ULONG_PTR end = 0;
  GetCurrentThreadStackLimits(&begin, &end);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here >= begin && here < end ? here - begin : 0;
}

// A thread takes longer to start; and where many are started that winpthreads has not made, its version 10
// ends in a deadlock.
void call_on_own_stack(std::size_t bytes, const std::function<void()>& work) {
  const bool was_fiber = IsThreadAFiber();
  Errand errand{work, was_fiber ? current_fiber() : ConvertThreadToFiberEx(nullptr, FIBER_FLAG_FLOAT_SWITCH),
                nullptr};
  void* const fiber = errand.sender != nullptr
                          ? CreateFiberEx(0, 2 * bytes, FIBER_FLAG_FLOAT_SWITCH, carry_out, &errand)
                          : nullptr;
  if (fiber != nullptr) {
    SwitchToFiber(fiber);
    DeleteFiber(fiber);
  }
  if (!was_fiber && errand.sender != nullptr) {
    ConvertFiberToThread();
  }
  if (fiber == nullptr) {
    work();
  }
  if (errand.thrown) {
    std::rethrow_exception(errand.thrown);
  }
}

}  // namespace duogemm
