// What the tuner keeps of all that it found: the best once more, what the planner decides well with, and the
// best of each shape.
#include <algorithm>

#include "plan/lower.h"
#include "tune/tuner_limits.h"

namespace duogemm::bench {
namespace {

// The fastest by prediction, with their numbers of slices, that are timed for a shape.
constexpr std::size_t schedules_of_a_shape = 16;

// Those that the schedule's operands leave open.
Tunables open_tunables(const Schedule& schedule, const Problem& problem) {
  const KernelSpec& spec = *schedule.kernel->spec;
  const auto fixed = fixed_tunables(spec, packed(problem, schedule.pack_a, schedule.pack_b));
  Tunables open = schedule.kernel->tunables;
  erase_if(open, [&](const auto& tunable) { return fixed->contains(tunable.first); });
  return open;
}

}  // namespace

void Tuner::finish() {
  reserve_ = options_.shapes.empty() ? share_after_shapes : share_after_fit;
  for (Field& field : fields_) {
    if (!enough()) {
      measure_again(field);
      const PlannerFit alone = fit({&field, 1}, calibrations(field));
      field.fitted = alone.chosen();
      field.regret = alone.regret();
    }
  }
  if (fields_.size() > 1 && !enough()) {
    // Kernels for operands as they stand against those for packed ones, which are of another field.
    const PlannerFit together = fit(fields_, chosen());
    fitted_ = together.chosen();
    regret_ = together.regret();
  }
  reserve_ = share_after_shapes;
  tune_shapes();
}

// The best of each probe in turns, and their calibrations: those that were lucky once are seldom so twice.
void Tuner::measure_again(Field& field) {
  for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
    std::vector<Shared>& best = field.best[probe];
    if (best.empty() || enough()) {
      continue;
    }
    const Problem& problem = field.probes[probe].problem;
    std::vector<Plan> plans;
    for (const Shared& member : best) {
      plans.push_back(*plan_of(*member->spec, member->tunables, member->scores.at(probe).slices, problem,
                               device_.info()));
    }
    const std::vector<double> again = stopwatch_.seconds(plans, problem, {.samples = 7});
    for (std::size_t i = 0; i < best.size(); ++i) {
      best[i]->scores.at(probe).seconds = again[i];
    }
    std::stable_sort(best.begin(), best.end(), [&](const Shared& a, const Shared& b) {
      return a->scores.at(probe).seconds < b->scores.at(probe).seconds;
    });
  }
  for (const Shared& member : members(field)) {
    if (enough()) {
      return;
    }
    static_cast<Calibration&>(*member) = calibrator_.calibrate(
        *member->spec, member->tunables, field.kind, [](const std::vector<Timing>&) { return true; });
  }
}

// What the planner decides well with, on the probes and judges of the fields, after that is taken out which
// leads it astray.
PlannerFit Tuner::fit(std::span<const Field> fields, const std::vector<Calibration>& calibrations) {
  Tuning all = facts_;
  all.calibrations = calibrations;
  const Planner planner(device_.info(), all);
  std::vector<Problem> problems;
  std::vector<double> best;
  for (const Field& field : fields) {
    for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
      if (!field.best[probe].empty()) {
        problems.push_back(field.probes[probe].problem);
        best.push_back(incumbent(field, probe));
      }
    }
    for (const Problem& judge : field.judges) {
      const Schedule picked = planner.rank(judge).front();
      if (picked.seconds.value_or(infinity) <= options_.budget * judge_share) {
        problems.push_back(judge);
        best.push_back(infinity);
      }
    }
  }
  CompilePool pool(programs_, options_.threads);
  for (const Problem& problem : problems) {
    const std::vector<Schedule> schedules = planner.rank(problem);
    compile(pool, problem, std::span(schedules).first(std::min(schedules.size(), PlannerFit::explored)));
  }
  finish(pool);
  PlannerFit fit(calibrations, problems, device_.info(), facts_);
  const auto measure = [&](const Schedule& schedule, std::size_t problem) {
    return stopwatch_.seconds(lower(schedule, problems[problem], device_.info()), problems[problem],
                              {.samples = 5});
  };
  fit.eliminate(best, measure, [&] { return enough(); });
  return fit;
}

void Tuner::compile(CompilePool& pool, const Problem& problem, std::span<const Schedule> schedules) const {
  for (const Schedule& schedule : schedules) {
    for (const Step& step : lower(schedule, problem, device_.info()).steps) {
      pool.add({0, step.kernel->spec, step.kernel->tunables});
    }
  }
}

// Everything that was added and is compiled when there is no more time for it.
std::vector<CompilePool::Job> Tuner::finish(CompilePool& pool) const {
  constexpr double patience = 0.1;
  std::vector<CompilePool::Job> done;
  while (!enough() && pool.pending() > 0) {
    if (auto job = pool.take(patience)) {
      done.push_back(std::move(*job));
    }
  }
  return done;
}

void Tuner::tune_shapes() {
  Tuning all = facts_;
  for (const Field& field : fields_) {
    const std::vector<Calibration> found = calibrations(field);
    all.calibrations.insert(all.calibrations.end(), found.begin(), found.end());
  }
  std::vector<std::vector<Schedule>> schedules;
  CompilePool pool(programs_, options_.threads);
  for (const NamedShape& shape : options_.shapes) {
    schedules.push_back(worth_trying(shape.problem, all));
    compile(pool, shape.problem, schedules.back());
  }
  finish(pool);
  for (std::size_t i = 0; i < options_.shapes.size(); ++i) {
    if (enough()) {
      return;
    }
    if (const auto tuned = tune(options_.shapes[i].problem, schedules[i])) {
      tuned_shapes_.push_back(*tuned);
    }
  }
}

std::vector<Schedule> Tuner::worth_trying(const Problem& problem, const Tuning& all) const {
  if (!fits(problem, device_.info())) {
    return {};
  }
  std::vector<Schedule> schedules = Planner(device_.info(), all).rank(problem);
  schedules.resize(std::min(schedules.size(), schedules_of_a_shape));
  return schedules;
}

std::optional<TunedShape> Tuner::tune(const Problem& problem, const std::vector<Schedule>& schedules) {
  std::vector<std::pair<double, Schedule>> timed;
  double best = infinity;
  for (const Schedule& schedule : schedules) {
    try {
      const double seconds = stopwatch_.seconds(lower(schedule, problem, device_.info()), problem,
                                                {.hopeless = far_behind * best});
      timed.emplace_back(seconds, schedule);
      best = std::min(best, seconds);
    } catch (const Error& error) {
      if (!of_candidate(error)) {
        throw;
      }
    }
  }
  if (timed.empty()) {
    return std::nullopt;
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  timed.resize(std::min(timed.size(), bests_of_a_probe));
  std::vector<Plan> plans;
  for (const auto& [seconds, schedule] : timed) {
    plans.push_back(lower(schedule, problem, device_.info()));
  }
  const std::vector<double> again = stopwatch_.seconds(plans, problem, {.samples = 7});
  const auto first = static_cast<std::size_t>(std::min_element(again.begin(), again.end()) - again.begin());
  const Schedule& winner = timed[first].second;
  return TunedShape{problem.a_op == Transpose::yes,
                    problem.b_op == Transpose::yes,
                    problem.m,
                    problem.n,
                    problem.k,
                    problem.batch,
                    {winner.kernel->spec, open_tunables(winner, problem), winner.slices, winner.clustered,
                     winner.pack_a, winner.pack_b},
                    again[first]};
}

}  // namespace duogemm::bench
