#include "system/stack.h"

#include <pthread.h>

#include <cstdint>
#include <exception>
#include <limits>

namespace duogemm {
namespace {

struct Stack {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// All addresses where the system does not tell.
Stack stack_of_thread() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
  }
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return {first, first + bytes};
}

struct Task {
  const std::function<void()>& work;
  std::exception_ptr failure;
};

void* carry_out(void* given) {
  Task& task = *static_cast<Task*>(given);
  try {
    task.work();
  } catch (...) {
    task.failure = std::current_exception();
  }
  return nullptr;
}

bool start_thread(pthread_t& thread, std::size_t stack_bytes, Task& task) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  const bool started = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
                       pthread_create(&thread, &attributes, carry_out, &task) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

std::size_t stack_left() {
  thread_local const Stack stack = stack_of_thread();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here >= stack.begin && here < stack.end ? here - stack.begin : 0;
}

void call_on_own_stack(std::size_t bytes, const std::function<void()>& work) {
  Task task{work, nullptr};
  pthread_t thread{};
  if (start_thread(thread, 2 * bytes, task)) {
    pthread_join(thread, nullptr);
  } else {
    carry_out(&task);
  }
  if (task.failure) {
    std::rethrow_exception(task.failure);
  }
}

}  // namespace duogemm
