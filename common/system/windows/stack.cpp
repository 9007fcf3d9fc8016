#include "system/stack.h"

#include <process.h>

#include <cstdint>
#include <future>

#include "system/windows/win32.h"

namespace duogemm {

std::size_t stack_left() {
  ULONG_PTR begin = 0;
  ULONG_PTR end = 0;
  GetCurrentThreadStackLimits(&begin, &end);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here >= begin && here < end ? here - begin : 0;
}

void call_on_own_stack(std::size_t bytes, const std::function<void()>& work) {
  std::packaged_task<void()> task(work);
  const auto carry_out = [](void* given) -> unsigned {
    (*static_cast<std::packaged_task<void()>*>(given))();
    return 0;
  };
  const Handle thread(
      reinterpret_cast<HANDLE>(_beginthreadex(nullptr, static_cast<unsigned>(2 * bytes), carry_out, &task,
                                              STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr)));
  if (thread) {
    WaitForSingleObject(thread.get(), INFINITE);
  } else {
    task();
  }
  task.get_future().get();  // throws what it threw
}

}  // namespace duogemm
