// Decides which calibrations to keep, so that the planner, which believes them, decides well.
//
// The cost model is wrong by some percent, for some kernels more than for others. A kernel that the model
// flatters is chosen where another is faster: the planner is better off without it.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "plan/select.h"

namespace duogemm::bench {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// By prediction, of at least one.
const Schedule& fastest(const std::vector<Schedule>& schedules);

struct PlannerFit {
  std::vector<Calibration> chosen;  // those left that the planner chooses for some of the problems
  double regret = 1.0;  // the planner's choices take this much longer than the best, as a mean of ratios
};

// Answers how long a schedule really takes for one of the problems, in seconds.
using MeasureSchedule = std::function<double(const Schedule& schedule, std::size_t problem)>;

// This many kernels are measured on a problem of which nothing is known.
inline constexpr std::size_t explored_kernels = 4;

// Takes out what leads the planner astray, the worst first, until nothing more is to be gained or `enough`
// says so. best: the best time of each problem as far as it was measured, and infinity elsewhere. Without
// `measure`, nothing is taken out but what the planner does not choose.
PlannerFit fit_planner(const std::vector<Calibration>& calibrations, const std::vector<Problem>& problems,
                       const DeviceInfo& device, const Tuning& facts, const std::vector<double>& best = {},
                       const MeasureSchedule& measure = {}, const std::function<bool()>& enough = {});

}  // namespace duogemm::bench
