#include "tune/trials.h"

#include <algorithm>
#include <cstdio>

#include "tune/proposals.h"

namespace duogemm::bench {
namespace {

// This close to the best, other numbers of splits are tried.
constexpr double close_to_best = 1.15;
// Nearer than this, two times have to be told apart in turns.
constexpr double nearly_equal = 0.03;

}  // namespace

SettingTrials::SettingTrials(Workbench& bench, TuneCounts& counts)
    : bench_(bench),
      counts_(counts),
      calibrator_(bench.stopwatch, bench.info(), CostFacts(tuning_for(bench.info()), bench.info()).cache,
                  bench.seconds_of(probe_share)) {}

void SettingTrials::look_at(Field& field, const SharedSetting& setting) {
  try {
    try_out(field, setting);
  } catch (const Error& error) {
    if (!is_of_setting(error)) {
      throw;
    }
    ++counts_.refused;
  }
  erase_unless_best(field, *setting);
}

void SettingTrials::try_out(Field& field, const SharedSetting& setting) {
  if (!field.check) {
    field.check =
        std::make_unique<EdgeCheck>(field.kind, bench_.device, bench_.stopwatch.queue(), bench_.programs);
  }
  const std::string fault = field.check->fault(*setting->spec, setting->tunables);
  if (!fault.empty()) {
    ++counts_.wrong;
    std::fprintf(stderr, "WRONG: %s, %s\n", name_of(*setting).c_str(), fault.c_str());
    return;
  }
  static_cast<Calibration&>(*setting) = calibrator_.calibrate(
      *setting->spec, setting->tunables, field.kind, [&](const std::vector<Timing>& timings) {
        return quality_of(field, {setting->spec, setting->tunables, timings}) < hopeless_quality;
      });
  ++counts_.timed;
  setting->quality = quality_of(field, *setting);
  for (std::size_t probe = 0; probe < field.probes.size() && !bench_.enough(); ++probe) {
    time_on(field, probe, setting);
  }
  field.looked_at.push_back(setting);
}

// Programs take memory, and thousands of them a lot.
void SettingTrials::erase_unless_best(const Field& field, const TriedSetting& setting) {
  const bool kept = std::ranges::any_of(field.best, [&](const auto& best) {
    return std::ranges::any_of(best, [&](const SharedSetting& member) { return member.get() == &setting; });
  });
  if (!kept) {
    bench_.programs.erase(variant_of(*setting.spec, setting.tunables));
  }
}

// Only schedules for operands as they are, and without clusters.
std::vector<Schedule> SettingTrials::schedules_for(const Calibration& setting, const Problem& problem) const {
  std::vector<Schedule> schedules = Planner::offers(setting, problem, bench_.info(), bench_.facts);
  std::erase_if(schedules, [](const Schedule& each) { return each.clustered || each.packs(); });
  return schedules;
}

// This is the least ratio of its predicted time to the best known, over the probes; 0 where nothing is known.
double SettingTrials::quality_of(const Field& field, const Calibration& setting) const {
  double quality = infinity;
  for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
    const auto schedules = schedules_for(setting, field.probes[probe].problem);
    if (!schedules.empty() && *fastest(schedules).seconds <= bench_.seconds_of(probe_share)) {
      quality = std::min(quality, *fastest(schedules).seconds / field.incumbent(probe));
    }
  }
  return quality;
}

// Times the setting where it may be among the best of the probe.
void SettingTrials::time_on(Field& field, std::size_t probe, const SharedSetting& setting) {
  const Problem& problem = field.probes[probe].problem;
  const std::vector<Schedule> schedules = schedules_for(*setting, problem);
  const double best = field.incumbent(probe);
  const double limit = std::min(far_slower * best, bench_.seconds_of(probe_share));
  if (schedules.empty() || *fastest(schedules).seconds > limit ||
      !schedule_of(*setting, 1, problem, bench_.info())) {
    return;
  }
  const Score score = best_slices(problem, *setting, schedules, best);
  setting->quality = std::min(setting->quality, best < infinity ? score.seconds / best : 1.0);
  if (score.seconds <= far_slower * best) {
    setting->scores[probe] = score;
    enter(field, probe, setting);
  }
}

// Begins with the number of splits that the model has for the best, and goes on to its neighbours while that
// helps.
Score SettingTrials::best_slices(const Problem& problem, const Calibration& setting,
                                 const std::vector<Schedule>& schedules, double incumbent) {
  const auto time = [&](std::ptrdiff_t at) -> Score {
    const std::int64_t splits = schedules[static_cast<std::size_t>(at)].splits;
    const auto schedule = schedule_of(setting, splits, problem, bench_.info());
    const Effort effort{.hopeless = far_slower * incumbent};
    return {schedule ? bench_.seconds(*schedule, problem, effort) : infinity, splits};
  };
  const std::ptrdiff_t start = &fastest(schedules) - schedules.data();
  Score best = time(start);
  for (const std::ptrdiff_t step : {-1, 1}) {
    for (std::ptrdiff_t at = start + step; best.seconds <= close_to_best * incumbent && at >= 0 &&
                                           at < static_cast<std::ptrdiff_t>(schedules.size());
         at += step) {
      const Score other = time(at);
      if (other.seconds >= best.seconds) {
        break;
      }
      best = other;
    }
  }
  return best;
}

// The settings must have scores on the probe.
void SettingTrials::time_again(const Field& field, std::size_t probe, std::span<const SharedSetting> settings,
                               const Effort& effort) {
  const Problem& problem = field.probes[probe].problem;
  std::vector<Schedule> schedules;
  for (const SharedSetting& setting : settings) {
    schedules.push_back(*schedule_of(*setting, setting->scores.at(probe).splits, problem, bench_.info()));
  }
  const std::vector<double> seconds = bench_.seconds(schedules, problem, effort);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    settings[i]->scores.at(probe).seconds = seconds[i];
  }
}

// Puts the setting among the best of a probe, if it belongs there.
void SettingTrials::enter(Field& field, std::size_t probe, const SharedSetting& setting) {
  std::vector<SharedSetting>& best = field.best[probe];
  const auto seconds = [&](const SharedSetting& of) { return of->scores.at(probe).seconds; };
  if (!best.empty() && seconds(setting) < (1.0 + nearly_equal) * seconds(best.front())) {
    // Whatever the device did meanwhile: both again, in turns.
    time_again(field, probe, std::vector{best.front(), setting}, {.samples = 7, .sample_seconds = 2e-4});
  }
  best.push_back(setting);
  std::ranges::stable_sort(best, {}, seconds);
  counts_.improved += best.front() == setting;
  if (best.size() > Field::bests_of_a_probe) {
    const SharedSetting last = best.back();
    best.pop_back();
    erase_unless_best(field, *last);
  }
}

void SettingTrials::measure_again(Field& field) {
  for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
    std::vector<SharedSetting>& best = field.best[probe];
    if (!best.empty() && !bench_.enough()) {
      time_again(field, probe, best, {.samples = 7});
      std::ranges::stable_sort(best, {},
                               [&](const SharedSetting& of) { return of->scores.at(probe).seconds; });
    }
  }
  for (const SharedSetting& member : field.members()) {
    if (bench_.enough()) {
      return;
    }
    static_cast<Calibration&>(*member) = calibrator_.calibrate(
        *member->spec, member->tunables, field.kind, [](const std::vector<Timing>&) { return true; });
  }
}

}  // namespace duogemm::bench
