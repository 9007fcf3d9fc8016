// Work that takes more stack than a caller may have: threads of musl's or Java's have 128 KiB to 1 MiB.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

namespace duogemm {

// Answers how many bytes of the calling thread's stack are left; 0 on one that is not its own.
std::size_t stack_left();

// Calls `work` on a stack of its own with twice as many bytes, another thread's or on Windows a fiber's. What
// it throws, this throws. Where none can be had, the caller's has to do.
void call_on_own_stack(std::size_t bytes, const std::function<void()>& work);

// Calls `work` where this many bytes of stack are left: here, or else on a stack of its own. A small product
// takes as long as to find out how many are left, which 0 spares, or as one more call.
template <typename Work>
[[gnu::always_inline]] inline void call_with_stack(std::size_t bytes, const Work& work) {
  if (bytes == 0 || stack_left() >= bytes) {
    work();
  } else {
    call_on_own_stack(bytes, work);
  }
}

// The same for work with a result.
template <typename Work>
auto with_stack(std::size_t bytes, const Work& work) {
  std::optional<decltype(work())> result;
  call_with_stack(bytes, [&] { result.emplace(work()); });
  return std::move(*result);
}

}  // namespace duogemm
