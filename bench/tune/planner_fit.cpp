#include "tune/planner_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tune/workbench.h"

namespace duogemm::bench {
namespace {

// Sums of logarithms of ratios: one percent on one problem.
constexpr double least_gain = 0.01;

}  // namespace

PlannerFit::PlannerFit(std::vector<Calibration> calibrations, std::vector<Problem> problems,
                       const DeviceInfo& device, const Tuning& facts)
    : calibrations_(std::move(calibrations)),
      problems_(std::move(problems)),
      out_(calibrations_.size(), false),
      measured_(calibrations_.size(), std::vector<double>(problems_.size(), 0.0)) {
  for (const Calibration& calibration : calibrations_) {
    Offers& offers = offers_.emplace_back();
    for (const Problem& problem : problems_) {
      const std::vector<Schedule> schedules = Planner::offers(calibration, problem, device, facts);
      offers.push_back(schedules.empty() ? std::nullopt : std::optional(fastest(schedules)));
    }
  }
}

void PlannerFit::eliminate(std::vector<double> known, const Measure& measure,
                           const std::function<bool()>& enough) {
  best_ = std::move(known);
  for (std::size_t problem = 0; problem < problems_.size() && !enough(); ++problem) {
    if (std::isinf(best_[problem])) {
      explore(problem, measure);
    }
  }
  while (!enough()) {
    std::size_t worst = 0;
    double most = 0.0;
    for (std::size_t i = 0; i < calibrations_.size() && !enough(); ++i) {
      const double gain = out_[i] ? 0.0 : gain_without(i, measure);
      if (gain > most) {
        most = gain;
        worst = i;
      }
    }
    if (most < least_gain) {
      break;
    }
    out_[worst] = true;
  }
  regret_ = std::exp(total_loss(measure) / static_cast<double>(std::max<std::size_t>(problems_.size(), 1)));
}

std::vector<Calibration> PlannerFit::chosen() const {
  std::set<std::size_t> picked;
  for (std::size_t problem = 0; problem < problems_.size(); ++problem) {
    if (const auto found = pick(problem, std::nullopt)) {
      picked.insert(*found);
    }
  }
  std::vector<Calibration> chosen;
  for (const std::size_t i : picked) {
    chosen.push_back(calibrations_[i]);
  }
  return chosen;
}

std::optional<std::size_t> PlannerFit::pick(std::size_t problem, std::optional<std::size_t> without) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < calibrations_.size(); ++i) {
    const std::optional<Schedule>& offer = offers_[i][problem];
    if (!out_[i] && i != without && offer && (!best || *offer->seconds < *offers_[*best][problem]->seconds)) {
      best = i;
    }
  }
  return best;
}

// Measures what is fastest by prediction.
void PlannerFit::explore(std::size_t problem, const Measure& measure) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < calibrations_.size(); ++i) {
    if (offers_[i][problem]) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return *offers_[a][problem]->seconds < *offers_[b][problem]->seconds;
  });
  order.resize(std::min(order.size(), explored));
  for (const std::size_t i : order) {
    loss(problem, i, measure);
  }
}

double PlannerFit::loss(std::size_t problem, std::size_t calibration, const Measure& measure) {
  double& seconds = measured_[calibration][problem];
  if (seconds == 0.0) {
    seconds = measure(*offers_[calibration][problem], problem);
    best_[problem] = std::min(best_[problem], seconds);
  }
  return std::log(seconds / best_[problem]);
}

double PlannerFit::gain_without(std::size_t calibration, const Measure& measure) {
  std::vector<std::size_t> its_problems;
  double loss_with = 0.0;
  for (std::size_t problem = 0; problem < problems_.size(); ++problem) {
    if (pick(problem, std::nullopt) == calibration) {
      its_problems.push_back(problem);
      loss_with += loss(problem, calibration, measure);
    }
  }
  double gain = loss_with;  // if all others were perfect
  for (const std::size_t problem : its_problems) {
    const auto other = pick(problem, calibration);
    if (gain < least_gain || !other) {
      return 0.0;
    }
    gain -= loss(problem, *other, measure);
  }
  return gain;
}

double PlannerFit::total_loss(const Measure& measure) {
  double sum = 0.0;
  for (std::size_t problem = 0; problem < problems_.size(); ++problem) {
    if (const auto found = pick(problem, std::nullopt)) {
      sum += loss(problem, *found, measure);
    }
  }
  return sum;
}

}  // namespace duogemm::bench
