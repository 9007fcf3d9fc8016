#include "tune/planner_fit.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

namespace duogemm::bench {
namespace {

// Sums of logarithms of ratios: one percent on one problem.
constexpr double least_gain = 0.01;

// The best that each calibration offers for each problem, what of that was measured (0 where it was not), and
// which calibrations are taken out.
struct Choices {
  std::vector<std::vector<std::optional<Schedule>>> offers;
  std::vector<std::vector<double>> measured;
  std::vector<bool> out;
  std::vector<double> best;
  const MeasureSchedule& measure;

  // The planner's among those that are left, the first by prediction; none but `without`.
  std::optional<std::size_t> pick(std::size_t problem, std::optional<std::size_t> without = {}) const {
    std::optional<std::size_t> choice;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto& offer = offers[i][problem];
      if (!out[i] && i != without && offer &&
          (!choice || *offer->seconds < *offers[*choice][problem]->seconds)) {
        choice = i;
      }
    }
    return choice;
  }

  // The logarithm of the ratio of its time to the best.
  double loss(std::size_t problem, std::size_t i) {
    double& seconds = measured[i][problem];
    if (seconds == 0.0) {
      seconds = measure(*offers[i][problem], problem);
      best[problem] = std::min(best[problem], seconds);
    }
    return std::log(seconds / best[problem]);
  }

  double gain_without(std::size_t i) {
    std::vector<std::size_t> its_problems;
    double gain = 0.0;  // if all others were perfect
    for (std::size_t problem = 0; problem < best.size(); ++problem) {
      if (pick(problem) == i) {
        its_problems.push_back(problem);
        gain += loss(problem, i);
      }
    }
    for (const std::size_t problem : its_problems) {
      const auto other = pick(problem, i);
      if (gain < least_gain || !other) {
        return 0.0;
      }
      gain -= loss(problem, *other);
    }
    return gain;
  }

  // Measures what is fastest by prediction.
  void explore(std::size_t problem) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (offers[i][problem]) {
        order.emplace_back(*offers[i][problem]->seconds, i);
      }
    }
    std::ranges::sort(order);
    for (const auto& [seconds, i] : order | std::views::take(explored_kernels)) {
      loss(problem, i);
    }
  }

  void eliminate(const std::function<bool()>& enough) {
    for (std::size_t problem = 0; problem < best.size() && !enough(); ++problem) {
      if (std::isinf(best[problem])) {
        explore(problem);
      }
    }
    while (!enough()) {
      std::pair<double, std::size_t> most{0.0, 0};
      for (std::size_t i = 0; i < out.size() && !enough(); ++i) {
        const double gain = out[i] ? 0.0 : gain_without(i);
        most = gain > most.first ? std::pair(gain, i) : most;
      }
      if (most.first < least_gain) {
        return;
      }
      out[most.second] = true;
    }
  }
};

}  // namespace

const Schedule& fastest(const std::vector<Schedule>& schedules) {
  return *std::ranges::min_element(schedules, {}, [](const Schedule& each) { return *each.seconds; });
}

PlannerFit fit_planner(const std::vector<Calibration>& calibrations, const std::vector<Problem>& problems,
                       const DeviceInfo& device, const Tuning& facts, const std::vector<double>& best,
                       const MeasureSchedule& measure, const std::function<bool()>& enough) {
  const std::size_t count = calibrations.size();
  Choices choices{std::vector<std::vector<std::optional<Schedule>>>(count),
                  std::vector(count, std::vector<double>(problems.size(), 0.0)),
                  std::vector<bool>(count, false), best, measure};
  for (std::size_t i = 0; i < count; ++i) {
    for (const Problem& problem : problems) {
      const std::vector<Schedule> offers = Planner::offers(calibrations[i], problem, device, facts);
      choices.offers[i].push_back(offers.empty() ? std::nullopt : std::optional(fastest(offers)));
    }
  }
  if (measure) {
    choices.eliminate(enough);
  }
  std::set<std::size_t> picked;
  double sum = 0.0;
  for (std::size_t problem = 0; problem < problems.size(); ++problem) {
    if (const auto i = choices.pick(problem)) {
      picked.insert(*i);
      sum += measure ? choices.loss(problem, *i) : 0.0;
    }
  }
  PlannerFit fit{{}, std::exp(sum / static_cast<double>(std::max<std::size_t>(problems.size(), 1)))};
  for (const std::size_t i : picked) {
    fit.chosen.push_back(calibrations[i]);
  }
  return fit;
}

}  // namespace duogemm::bench
