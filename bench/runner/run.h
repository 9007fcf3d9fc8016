// A problem on several devices at once: who multiplies there, everywhere, is timed in the same loop.
#pragma once

#include "machine/gpu_watch.h"
#include "runner/trial.h"
#include "support/progress.h"

namespace duogemm::bench {

using Trials = std::vector<std::unique_ptr<Trial>>;

Trials plan_trials(const Sessions& sessions, const Problem& problem, bool each_step = false);

// Why all that is too much; nothing when it is there. host_bytes: of the exam, and of whatever else takes the
// machine's memory. extra_bytes: of a buffer on each device.
std::optional<std::string> lacking_memory(const Sessions& sessions, const Trials& trials, double host_bytes,
                                          double extra_bytes = 0.0);

using ShowWho = std::function<void(const std::string& who)>;

void judge(const Sessions& sessions, const Trials& trials, Exam& exam, const MeasureOptions& options,
           const ShowWho& show);

// Rows may be without samples once `options.stop` is true.
void time_in_turns(const Trials& trials, const MeasureOptions& options, GpuWatch& watch, const ShowWho& show);

}  // namespace duogemm::bench
