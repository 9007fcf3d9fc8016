// DUOGEMM_RECORD asks for the calls of a program, in a trace that `duogemm replay` runs again.
#pragma once

#include "problem/problem.h"

namespace duogemm {

// The matrices of a call are in one of these memories.
enum class CallMemory { host, device };

// Notes a call that was served in the file that the environment variable DUOGEMM_RECORD names, in the format
// that bench/traces/README.md describes. Does nothing without the variable, nor for a call that changes
// nothing. Any thread may call. The file is complete after every call, so that nothing is lost when the
// process is killed; the child of a fork writes a file of its own. A file that cannot be written is
// complained about once, and ends with the last call that was written whole.
void record_call(const Sgemm& call, CallMemory memory, CallBatch batch = CallBatch::strides) noexcept;

}  // namespace duogemm
