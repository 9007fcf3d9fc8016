#include "tune/planner_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace duogemm::bench {
namespace {

// Sums of logarithms of ratios: one percent on one problem.
constexpr double least_gain = 0.01;

// The fastest by prediction that the calibration offers.
std::optional<Schedule> best_offer(const Calibration& calibration, const Problem& problem,
                                   const DeviceInfo& device, const Tuning& facts) {
  const std::vector<Schedule> offers = Planner::offers(calibration, problem, device, facts);
  return offers.empty() ? std::nullopt : std::optional(fastest(offers));
}

}  // namespace

const Schedule& fastest(const std::vector<Schedule>& schedules) {
  return *std::ranges::min_element(schedules, {}, [](const Schedule& each) { return *each.seconds; });
}

PlannerFit fit_planner(const std::vector<Calibration>& calibrations, const std::vector<Problem>& problems,
                       const DeviceInfo& device, const Tuning& facts, std::vector<double> best,
                       const MeasureSchedule& measure, const std::function<bool()>& enough) {
  const std::size_t count = calibrations.size();
  // Of each calibration, for each problem. What was not measured is 0.
  std::vector<std::vector<std::optional<Schedule>>> offers(count);
  std::vector<std::vector<double>> measured(count, std::vector<double>(problems.size(), 0.0));
  std::vector<bool> out(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    for (const Problem& problem : problems) {
      offers[i].push_back(best_offer(calibrations[i], problem, device, facts));
    }
  }
  // The planner's choice among those that are left, with what it predicts; `count` where there is none.
  const auto pick = [&](std::size_t problem, std::size_t without) {
    std::pair<double, std::size_t> choice{infinity, count};
    for (std::size_t i = 0; i < count; ++i) {
      if (!out[i] && i != without && offers[i][problem]) {
        choice = std::min(choice, {*offers[i][problem]->seconds, i});
      }
    }
    return choice.second;
  };
  const auto loss = [&](std::size_t problem, std::size_t i) {
    double& seconds = measured[i][problem];
    if (seconds == 0.0) {
      seconds = measure(*offers[i][problem], problem);
      best[problem] = std::min(best[problem], seconds);
    }
    return std::log(seconds / best[problem]);
  };
  const auto gain_without = [&](std::size_t i) {
    std::vector<std::size_t> its_problems;
    double gain = 0.0;  // if all others were perfect
    for (std::size_t problem = 0; problem < problems.size(); ++problem) {
      if (pick(problem, count) == i) {
        its_problems.push_back(problem);
        gain += loss(problem, i);
      }
    }
    for (const std::size_t problem : its_problems) {
      const std::size_t other = pick(problem, i);
      if (gain < least_gain || other == count) {
        return 0.0;
      }
      gain -= loss(problem, other);
    }
    return gain;
  };
  // Of problems of which nothing is known, what is fastest by prediction is measured.
  for (std::size_t problem = 0; measure && problem < problems.size() && !enough(); ++problem) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < count && std::isinf(best[problem]); ++i) {
      if (offers[i][problem]) {
        order.emplace_back(*offers[i][problem]->seconds, i);
      }
    }
    std::ranges::sort(order);
    order.resize(std::min(order.size(), explored_kernels));
    for (const auto& [seconds, i] : order) {
      loss(problem, i);
    }
  }
  while (measure && !enough()) {
    std::pair<double, std::size_t> most{0.0, 0};
    for (std::size_t i = 0; i < count && !enough(); ++i) {
      const double gain = out[i] ? 0.0 : gain_without(i);
      most = gain > most.first ? std::pair(gain, i) : most;
    }
    if (most.first < least_gain) {
      break;
    }
    out[most.second] = true;
  }
  PlannerFit fit;
  std::set<std::size_t> picked;
  double sum = 0.0;
  for (std::size_t problem = 0; problem < problems.size(); ++problem) {
    if (const std::size_t i = pick(problem, count); i < count) {
      picked.insert(i);
      sum += measure ? loss(problem, i) : 0.0;
    }
  }
  for (const std::size_t i : picked) {
    fit.chosen.push_back(calibrations[i]);
  }
  fit.regret = std::exp(sum / static_cast<double>(std::max<std::size_t>(problems.size(), 1)));
  return fit;
}

}  // namespace duogemm::bench
