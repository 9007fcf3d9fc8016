#include "runner/run.h"

#include "machine/memory_need.h"

namespace duogemm::bench {

Trials plan_trials(const Sessions& sessions, const Problem& problem, bool each_step) {
  Trials trials;
  for (const auto& session : sessions) {
    trials.push_back(std::make_unique<Trial>(*session, problem, each_step));
  }
  return trials;
}

std::optional<std::string> lacking_memory(const Sessions& sessions, const Trials& trials, double host_bytes,
                                          double extra_bytes) {
  MemoryNeed need;
  need.host = host_bytes;
  for (const auto& trial : trials) {
    need += trial->need();
    need.add_buffer(extra_bytes);
  }
  return lacking_memory(need, sessions.back()->info(), available_host_memory());
}

void judge(const Sessions& sessions, const Trials& trials, Exam& exam, const MeasureOptions& options,
           const ShowWho& show) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::string where = sessions[i]->info().backend + ": ";
    trials[i]->judge(
        exam, [&](const std::string& who) { show(where + who + ": judging"); }, options.stop);
  }
}

void time_in_turns(const Trials& trials, const MeasureOptions& options, GpuWatch& watch,
                   const ShowWho& show) {
  std::vector<Contender> contenders;
  for (const auto& trial : trials) {
    trial->add_contenders(contenders);
  }
  std::vector<Samples> samples;
  watch.during([&] { samples = measure(contenders, options, show); });
  auto next = samples.begin();
  for (const auto& trial : trials) {
    trial->take_samples(next);
  }
}

}  // namespace duogemm::bench
