// Decides which calibrations to keep, so that the planner, which believes them, decides well.
//
// The cost model is wrong by some percent, for some kernels more than for others. A kernel that the model
// flatters is chosen where another is faster: the planner is better off without it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/select.h"

namespace duogemm::bench {

class PlannerFit {
 public:
  // Answers how long a schedule really takes for one of the problems, in seconds.
  using Measure = std::function<double(const Schedule& schedule, std::size_t problem)>;

  // This many kernels are measured on a problem of which nothing is known.
  static constexpr std::size_t explored = 4;

  PlannerFit(std::vector<Calibration> calibrations, std::vector<Problem> problems, const DeviceInfo& device,
             const Tuning& facts);

  // Takes out what leads the planner astray, the worst first, until nothing more is to be gained or `enough`
  // says so. `known`: the best time of each problem as far as it was measured, and infinity elsewhere.
  void eliminate(std::vector<double> known, const Measure& measure, const std::function<bool()>& enough);

  // Those left that the planner chooses for some of the problems.
  std::vector<Calibration> chosen() const;

  // The planner's choices take this much longer than the best, as a mean of ratios; after eliminate().
  double regret() const { return regret_; }

 private:
  using Offers = std::vector<std::optional<Schedule>>;  // the best of a calibration for each problem

  std::optional<std::size_t> pick(std::size_t problem, std::optional<std::size_t> without) const;
  void explore(std::size_t problem, const Measure& measure);
  double loss(std::size_t problem, std::size_t calibration, const Measure& measure);
  double gain_without(std::size_t calibration, const Measure& measure);
  double total_loss(const Measure& measure);

  std::vector<Calibration> calibrations_;
  std::vector<Problem> problems_;
  std::vector<Offers> offers_;
  std::vector<bool> out_;
  std::vector<double> best_;
  std::vector<std::vector<double>> measured_;  // of each calibration, for each problem; 0 when it was not
  double regret_ = 1.0;
};

}  // namespace duogemm::bench
