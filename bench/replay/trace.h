// The calls of a program, as DUOGEMM_RECORD writes them down and bench/traces/README.md describes them.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"
#include "runtime/call_recorder.h"

namespace duogemm::bench {

// One of a trace's different calls.
struct TraceCall {
  Problem problem;  // the members of lists stand a stride apart in a replay
  CallMemory memory;
  CallBatch batch;
};

// The same call several times in a row.
struct TraceStep {
  std::size_t call;  // which of the different ones
  std::int64_t times;
};

struct Trace {
  std::string name;         // of the file, without folder and extension
  std::string about;        // as its first line has it; may be empty
  bool breaks_off = false;  // in the middle of a last line, which is left out
  std::vector<TraceCall> calls;
  std::vector<TraceStep> steps;

  std::int64_t call_count() const;
  double flops() const;
  // Applies to all calls but those at the level everywhere.
  void permit(Precision precision);
};

// More calls than this are refused.
inline constexpr std::int64_t most_calls = 20'000'000;

// `file` is for messages: throws invalid_argument that begins with "file:line: ".
Trace parse_trace(const std::string& text, const std::string& file);

// Throws invalid_argument, also when there is no such file.
Trace load_trace(const std::string& file);

}  // namespace duogemm::bench
