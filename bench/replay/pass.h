// One process of a replay: somebody runs the whole trace, and may run it again.
#pragma once

#include <string>
#include <vector>

#include "replay/caller.h"
#include "report/json_parts.h"

namespace duogemm::bench {

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
  // What follows is there only where the pass went on after the first walk.
  std::vector<Walk> again;
  std::vector<double>
      call_s;  // of each of the different calls: all of its executions, each with the queue finished
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

Json to_json(const PassResult& result);
PassResult pass_from_json(const Json& json);

}  // namespace duogemm::bench
