// A replay: processes that run a trace by this library and by another, in turns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/gpu_watch.h"
#include "replay/pass.h"
#include "support/progress.h"

namespace duogemm::bench {

struct ReplayRequest {
  std::vector<std::string> files;
  ChosenDevice device;
  std::optional<CallMemory> through;   // where the trace's own data was when not given
  std::optional<Precision> precision;  // the trace's own when not given
  std::optional<std::string> against;  // title, or "none"; the one that fits the device when not given
  bool warmed = false;                 // one more pass, after the library's warm()
  std::size_t repeats = 1;             // of all processes
};

// Passes of the same kind in all repeats. Walks of the same pass again count all.
struct Passes {
  std::vector<Walk> walks;
  std::vector<double> context_s;
  std::vector<double> warm_s;  // where the library's warm() was called

  // The walk whose wall time is the median.
  const Walk& median() const;
};

// One library's part in a replay of a trace.
struct Performance {
  std::string name;
  Passes first;   // with nothing on disk
  Passes disk;    // ours only: with the programs that the first pass has left there
  Passes warmed;  // ours only, where asked for: the same after warm()
  Passes again;
  std::vector<double> call_s;  // as PassResult has it, the smallest of all repeats
  std::size_t checked = 0;
  std::string fault;
};

struct TraceReport {
  std::string file;
  Trace trace;
  CallMemory through = CallMemory::device;
  std::string against;  // title; empty when there is no other
  Performance ours;
  std::optional<Performance> other;
  std::string unavailable;  // why there is no other

  bool ok() const { return ours.fault.empty(); }
};

struct ReplayReport {
  DeviceInfo device;
  std::optional<Precision> precision;  // as the request has it
  std::optional<GpuState> gpu_before;
  std::optional<GpuState> gpu_after;
  std::vector<TraceReport> traces;

  bool ok() const;
};

// The calls of a trace on which the other was faster, those first that lost the most seconds in the whole
// trace, at most `most`. Calls that differ in their scalars alone are one, but for a beta that is 0.
struct LostCall {
  std::size_t call;  // the first of them
  std::int64_t times;
  double ours_s;
  double other_s;
};
std::vector<LostCall> lost_calls(const TraceReport& report, std::size_t most);

// All traces are looked at before the first process is started. after_trace: is called with what there is
// whenever a trace is done.
ReplayReport run_replay(const ReplayRequest& request, Progress& progress,
                        const std::function<void(const ReplayReport&)>& after_trace);

// Tell of a replay in words, and as the result file that bench/schema/README.md describes.
std::string trace_text(const TraceReport& report, const DeviceInfo& device);
std::string replay_json(const ReplayReport& report);

// A process that run_replay has started does this: it runs the pass, and prints its result or its error.
struct PassRequest {
  std::string file;
  Subject subject;
  PassKind kind;
};
int serve_pass(const PassRequest& request);

}  // namespace duogemm::bench
