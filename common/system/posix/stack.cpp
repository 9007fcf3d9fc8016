#include "system/stack.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <future>

#include "system/posix/particulars.h"

namespace duogemm {

std::size_t stack_left() {
  thread_local constinit Stack known{};
  Stack stack = known;  // a small product takes as long as several uses of thread_local variables
  if (stack.end == 0) {
    stack = known = own_stack();
  }
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here >= stack.begin && here < stack.end ? here - stack.begin : 0;
}

void call_on_own_stack(std::size_t bytes, const std::function<void()>& work) {
  std::packaged_task<void()> task(work);
  const auto carry_out = [](void* given) -> void* {
    (*static_cast<std::packaged_task<void()>*>(given))();
    return nullptr;
  };
  pthread_t thread{};
  bool started = false;
  if (pthread_attr_t attributes; pthread_attr_init(&attributes) == 0) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));  // of which some want multiples
    started = pthread_attr_setstacksize(&attributes, (2 * bytes + page - 1) / page * page) == 0 &&
              pthread_create(&thread, &attributes, carry_out, &task) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (started) {
    pthread_join(thread, nullptr);
  } else {
    task();
  }
  task.get_future().get();  // throws what it threw
}

}  // namespace duogemm
