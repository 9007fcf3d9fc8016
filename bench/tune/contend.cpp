// How good a setting is: whether it is right, and its place among the best of each probe.
#include <algorithm>
#include <cstdio>

#include "plan/lower.h"
#include "tune/tuner_limits.h"

namespace duogemm::bench {
namespace {

// So close to the best, other numbers of slices are tried.
constexpr double close_behind = 1.15;
// Nearer than this, two times have to be told apart in turns.
constexpr double nearly_equal = 0.03;

}  // namespace

void Tuner::look_at(const CompilePool::Job& compiled) {
  const Job job = jobs_.extract(compiled.id).mapped();
  seen_.insert(name_of(*compiled.spec, compiled.tunables));
  if (!compiled.failure.empty()) {
    ++counts_.refused;
    return;
  }
  look_at(fields_[job.field], job.candidate);
  erase_unless_best(fields_[job.field], *job.candidate);
}

void Tuner::look_at(Field& field, const Shared& candidate) {
  try {
    if (!field.check) {
      field.check = std::make_unique<EdgeCheck>(field.kind, device_, stopwatch_.queue(), programs_);
    }
    const std::string fault = field.check->fault(*candidate->spec, candidate->tunables);
    if (!fault.empty()) {
      ++counts_.wrong;
      std::fprintf(stderr, "WRONG: %s %s, %s\n", candidate->spec->name.c_str(),
                   to_text(candidate->tunables).c_str(), fault.c_str());
      return;
    }
    static_cast<Calibration&>(*candidate) = calibrator_.calibrate(
        *candidate->spec, candidate->tunables, field.kind, [&](const std::vector<Timing>& timings) {
          candidate->timings = timings;
          return quality_of(field, *candidate) < hopeless_quality;
        });
    ++counts_.timed;
    candidate->quality = quality_of(field, *candidate);
    for (std::size_t probe = 0; probe < field.probes.size() && !enough(); ++probe) {
      contend(field, probe, candidate);
    }
  } catch (const Error& error) {
    if (!of_candidate(error)) {
      throw;
    }
    ++counts_.refused;
    return;
  }
  field.looked_at.push_back(candidate);
}

// Programs take memory, and thousands of them a lot.
void Tuner::erase_unless_best(const Field& field, const Candidate& candidate) {
  const bool kept = std::any_of(field.best.begin(), field.best.end(), [&](const auto& best) {
    return std::any_of(best.begin(), best.end(),
                       [&](const Shared& member) { return member.get() == &candidate; });
  });
  if (!kept) {
    programs_.erase(variant_of(*candidate.spec, candidate.tunables));
  }
}

// Of operands as they are, and without clusters.
std::vector<Schedule> Tuner::schedules_for(const Candidate& candidate, const Problem& problem) const {
  std::vector<Schedule> schedules = Planner::offers(candidate, problem, device_.info(), facts_);
  std::erase_if(schedules, [](const Schedule& each) { return each.clustered || each.packs(); });
  return schedules;
}

// The least ratio of its predicted time to the best known, over the probes; 0 where nothing is known.
double Tuner::quality_of(const Field& field, const Candidate& candidate) const {
  double quality = infinity;
  for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
    const auto schedules = schedules_for(candidate, field.probes[probe].problem);
    if (!schedules.empty() && *fastest(schedules).seconds <= options_.budget * probe_share) {
      quality = std::min(quality, *fastest(schedules).seconds / incumbent(field, probe));
    }
  }
  return quality;
}

double Tuner::incumbent(const Field& field, std::size_t probe) const {
  return field.best[probe].empty() ? infinity : field.best[probe].front()->scores.at(probe).seconds;
}

// Times the candidate on a probe if it may be among its best.
void Tuner::contend(Field& field, std::size_t probe, const Shared& candidate) {
  const Problem& problem = field.probes[probe].problem;
  const std::vector<Schedule> schedules = schedules_for(*candidate, problem);
  if (schedules.empty()) {
    return;
  }
  const double best = incumbent(field, probe);
  const double limit = options_.budget * probe_share;
  if (*fastest(schedules).seconds > std::min(far_behind * best, limit) ||
      !plan_of(*candidate->spec, candidate->tunables, 1, problem, device_.info())) {
    return;
  }
  const Score score = best_slices(field, probe, *candidate, schedules, best);
  candidate->quality = std::min(candidate->quality, best < infinity ? score.seconds / best : 1.0);
  if (score.seconds <= far_behind * best) {
    candidate->scores[probe] = score;
    enter(field, probe, candidate);
  }
}

// Begins with the number of slices that the model has for the best, and goes on to its neighbours while that
// helps.
Tuner::Score Tuner::best_slices(const Field& field, std::size_t probe, const Candidate& candidate,
                                const std::vector<Schedule>& schedules, double incumbent) {
  const Problem& problem = field.probes[probe].problem;
  const auto time = [&](std::ptrdiff_t at) -> Score {
    const std::int64_t slices = schedules[static_cast<std::size_t>(at)].slices;
    const auto plan = plan_of(*candidate.spec, candidate.tunables, slices, problem, device_.info());
    return {plan ? stopwatch_.seconds(*plan, problem, {.hopeless = far_behind * incumbent}) : infinity,
            slices};
  };
  const std::ptrdiff_t start = &fastest(schedules) - schedules.data();
  Score best = time(start);
  for (const std::ptrdiff_t step : {-1, 1}) {
    for (std::ptrdiff_t at = start + step; best.seconds <= close_behind * incumbent && at >= 0 &&
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

// Puts the candidate among the best of a probe, if it belongs there.
void Tuner::enter(Field& field, std::size_t probe, const Shared& candidate) {
  std::vector<Shared>& best = field.best[probe];
  const auto score = [&](const Shared& of) -> Score& { return of->scores.at(probe); };
  if (!best.empty() && score(candidate).seconds < (1.0 + nearly_equal) * score(best.front()).seconds) {
    // Whatever the device did meanwhile: both again, in turns.
    const Problem& problem = field.probes[probe].problem;
    const auto plan = [&](const Shared& of) {
      return *plan_of(*of->spec, of->tunables, score(of).slices, problem, device_.info());
    };
    const std::vector<double> again = stopwatch_.seconds({plan(best.front()), plan(candidate)}, problem,
                                                         {.samples = 7, .sample_seconds = 2e-4});
    score(best.front()).seconds = again[0];
    score(candidate).seconds = again[1];
  }
  best.push_back(candidate);
  std::stable_sort(best.begin(), best.end(),
                   [&](const Shared& a, const Shared& b) { return score(a).seconds < score(b).seconds; });
  counts_.improved += best.front() == candidate;
  if (best.size() > bests_of_a_probe) {
    const Shared last = best.back();
    best.pop_back();
    erase_unless_best(field, *last);
  }
}

}  // namespace duogemm::bench
