#include "tune/tuned_shapes.h"

#include <algorithm>

namespace duogemm::bench {
namespace {

// The fastest by prediction, with their numbers of splits, are timed for a shape.
constexpr std::size_t schedules_of_a_shape = 16;
// This many of the fastest of them are timed once more, in turns.
constexpr std::size_t finalists = 3;

// Leaves out those that the schedule's operands fix.
Tunables open_tunables(const Schedule& schedule, const Problem& problem) {
  const auto fixed =
      fixed_tunables(*schedule.kernel->spec, packed(problem, schedule.pack_a, schedule.pack_b));
  Tunables open = schedule.kernel->tunables;
  erase_if(open, [&](const auto& tunable) { return fixed->contains(tunable.first); });
  return open;
}

std::optional<TunedShape> tune(const Problem& problem, const std::vector<Schedule>& schedules,
                               Workbench& bench) {
  std::vector<std::pair<double, Schedule>> timed;
  double best = infinity;
  for (const Schedule& schedule : schedules) {
    try {
      timed.emplace_back(bench.seconds(schedule, problem, {.hopeless = far_slower * best}), schedule);
      best = std::min(best, timed.back().first);
    } catch (const Error& error) {
      if (!is_of_setting(error)) {
        throw;
      }
    }
  }
  if (timed.empty()) {
    return std::nullopt;
  }
  std::ranges::stable_sort(timed, {}, [](const auto& each) { return each.first; });
  std::vector<Schedule> best_ones;
  for (std::size_t i = 0; i < std::min(timed.size(), finalists); ++i) {
    best_ones.push_back(timed[i].second);
  }
  const std::vector<double> again = bench.seconds(best_ones, problem, {.samples = 7});
  const auto first = static_cast<std::size_t>(std::ranges::min_element(again) - again.begin());
  const Schedule& winner = best_ones[first];
  return TunedShape{problem.a_op == Transpose::yes,
                    problem.b_op == Transpose::yes,
                    problem.m,
                    problem.n,
                    problem.k,
                    problem.batch,
                    {winner.kernel->spec, open_tunables(winner, problem), winner.splits, winner.clustered,
                     winner.pack_a, winner.pack_b},
                    again[first]};
}

}  // namespace

std::vector<TunedShape> tune_shapes(const std::vector<Field>& fields, Workbench& bench) {
  Tuning all = bench.facts;
  for (const Field& field : fields) {
    std::ranges::move(field.calibrations(), std::back_inserter(all.calibrations));
  }
  const Planner planner(bench.info(), all);
  std::vector<std::vector<Schedule>> schedules;
  std::vector<const Variant*> kernels;
  for (const NamedShape& shape : bench.options.shapes) {
    std::vector<Schedule>& best = schedules.emplace_back();
    if (bench.fits(shape.problem)) {
      best = planner.rank(shape.problem);
      best.resize(std::min(best.size(), schedules_of_a_shape));
    }
    for (const Schedule& schedule : best) {
      bench.add_kernels(schedule, shape.problem, kernels);
    }
  }
  bench.compile(kernels);
  std::vector<TunedShape> tuned;
  for (std::size_t i = 0; i < schedules.size() && !bench.enough(); ++i) {
    if (const auto found = tune(bench.options.shapes[i].problem, schedules[i], bench)) {
      tuned.push_back(*found);
    }
  }
  return tuned;
}

}  // namespace duogemm::bench
