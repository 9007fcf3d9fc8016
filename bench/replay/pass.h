// One process of a replay: somebody runs the whole trace, and may run it again.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "output/json.h"
#include "references/reference.h"
#include "replay/trace.h"
#include "support/device_choice.h"

namespace duogemm::bench {

// A pass of a replay: who, where, and on which kind of memory.
struct Subject {
  std::string title;  // "duogemm", or that of a library as --against has it
  ChosenDevice device;
  CallMemory through;
  std::optional<Precision> precision;  // of all calls, in place of their own
  double choosing_s = 0.0;             // what asking the runtimes for their devices has taken

  bool ours() const { return title == own_title; }
  // OpenBLAS needs no device.
  bool needs_device() const { return title != "OpenBLAS"; }
  // Says whether the operands are plain arrays.
  bool on_arrays() const { return ours() ? through == CallMemory::host : !needs_device(); }

  static constexpr const char* own_title = "duogemm";
};

// Does what a program does before its first call: makes the library's handle, or whatever it has. `device`
// and `queue` are where the operands are: the subject's device, or the host.
std::unique_ptr<ReferenceLibrary> make_caller(const Subject& subject, Device& device, Queue& queue);

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

enum class PassKind {
  whole,   // the first walk, and again
  first,   // the first walk alone
  warmed,  // the same after the library's warm()
};

// The words by which processes are told.
const char* word_of(PassKind kind);
PassKind kind_of(const std::string& word);

PassResult run_pass(const Trace& trace, const Subject& subject, PassKind kind);

// As processes tell each other.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Walk, wall_s, call_median_s, call_p99_s, new_median_s, new_p99_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PassResult, name, context_s, warm_s, first, again, call_s, checked, fault)

}  // namespace duogemm::bench
