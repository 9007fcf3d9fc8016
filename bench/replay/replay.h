// A replay: processes that run a trace by this library and by another, in turns.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/gpu_watch.h"
#include "replay/trace.h"
#include "support/device_choice.h"
#include "support/progress.h"

namespace duogemm::bench {

// A pass of a replay: who, where, and on which kind of memory.
struct Subject {
  std::string title;  // "duogemm", or that of a library as --against has it
  ChosenDevice device;
  CallMemory through;
  std::optional<Precision> precision;  // of all calls, in place of their own
  double choosing_s = 0.0;             // what asking the runtimes for their devices has taken
};
enum class PassKind {
  whole,   // the trace from its first call, and again
  first,   // the first walk alone
  warmed,  // the same after the library's warm()
};
// The words by which processes are told.
inline constexpr const char* pass_words[] = {"whole", "first", "warmed"};
PassKind kind_of(const std::string& word);

// A process that run_replay has started does this: it runs the pass, and prints its result or its error.
struct PassRequest {
  std::string file;
  Subject subject;
  PassKind kind;
};
int serve_pass(const PassRequest& request);

// The trace from its first call, and what must come before that, to the end of its last.
struct Walk {
  double wall_s = 0.0;
  // After what time calls returned: the median of all and the 99th percentile, and the same of the first of
  // each of the different calls, which is a new problem in the first walk.
  double call_median_s = 0.0;
  double call_p99_s = 0.0;
  double new_median_s = 0.0;
  double new_p99_s = 0.0;
};

struct PassResult {
  std::string name;        // of who multiplied, with the version
  double context_s = 0.0;  // what the runtime took for a context and a queue, before the first walk
  double warm_s = 0.0;     // what the library's warm() took, before the first walk, where it was called
  Walk first;
  // The rest is there only where the pass went on after the first walk.
  std::vector<Walk> again;
  // Each of the different calls has the sum of all its executions, each with the queue finished.
  std::vector<double> call_s;
  std::size_t checked = 0;  // calls whose results were judged
  std::string fault;        // of the first that is wrong
};

// As processes tell each other.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Walk, wall_s, call_median_s, call_p99_s, new_median_s, new_p99_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PassResult, name, context_s, warm_s, first, again, call_s, checked, fault)

struct ReplayRequest {
  std::vector<std::string> files;
  ChosenDevice device;
  std::optional<CallMemory> through;   // where the trace's own data was when not given
  std::optional<Precision> precision;  // the trace's own when not given
  std::optional<std::string> against;  // title, or "none"; the one that fits the device when not given
  bool warmed = false;                 // one more pass, after the library's warm()
  std::size_t repeats = 1;             // of all processes
};

// One library's part in a replay of a trace: its passes of each kind, in all repeats.
struct Performance {
  std::vector<PassResult> first;   // with nothing on disk
  std::vector<PassResult> disk;    // ours only: with the programs that the first pass has left there
  std::vector<PassResult> warmed;  // ours only, where asked for: the same after warm()

  // Those that went on after the first walk.
  const std::vector<PassResult>& whole() const { return disk.empty() ? first : disk; }
  std::string fault() const;
  // Each of the different calls has the smallest of all its repeats here.
  std::vector<double> call_s() const;
};

struct TraceReport {
  std::string file;
  Trace trace;
  CallMemory through = CallMemory::device;
  std::string against;  // title; empty when there is no other
  Performance ours;
  std::optional<Performance> other;
  std::string unavailable;  // why there is no other
};

struct ReplayReport {
  DeviceInfo device;
  std::optional<Precision> precision;  // as the request has it
  std::optional<GpuState> gpu_before;
  std::optional<GpuState> gpu_after;
  std::vector<TraceReport> traces;

  bool ok() const;
};

// Throws out_of_memory when a device, or the host where it works on plain arrays, has not enough for the
// operands and for as much again as libraries may need besides.
void require_memory(const Trace& trace, const DeviceInfo& device, CallMemory through);

// All traces are looked at before the first process is started. after_trace: is called with what there is
// whenever a trace is done.
ReplayReport run_replay(const ReplayRequest& request, Progress& progress,
                        const std::function<void(const ReplayReport&)>& after_trace);

const char* name_of(CallMemory memory);

// Tell of a replay in words, and as the result file that bench/schema/README.md describes.
std::string trace_text(const TraceReport& report, const DeviceInfo& device);
std::string replay_json(const ReplayReport& report);

}  // namespace duogemm::bench
