// DUOGEMM_RECORD asks for the calls of a program, in a trace that `duogemm replay` runs again.
#pragma once

#include <atomic>

#include "problem/problem.h"

namespace duogemm {

// The matrices of a call are in one of these memories.
enum class CallMemory { host, device };

// Notes a call that was served in the file that the environment variable DUOGEMM_RECORD names, in the format
// that bench/traces/README.md describes. Does nothing without the variable, nor for a call that changes
// nothing. Any thread may call. The file is complete after every call, so that nothing is lost when the
// process is killed; the child of a fork writes a file of its own. A file that cannot be written is
// complained about once, and ends with the last call that was written whole.
inline void record_call(const Sgemm& call, CallMemory memory, CallBatch batch = CallBatch::strides) noexcept;

// Its parts: a small product takes as long as a call that finds nothing to do.
extern std::atomic<bool> calls_are_recorded;  // as far as is known
void record_call_now(const Sgemm& call, CallMemory memory, CallBatch batch) noexcept;

inline void record_call(const Sgemm& call, CallMemory memory, CallBatch batch) noexcept {
  if (calls_are_recorded.load(std::memory_order_relaxed)) {
    record_call_now(call, memory, batch);
  }
}

}  // namespace duogemm
