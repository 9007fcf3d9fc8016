// Decides what is kept of what a search has found.
#pragma once

#include "output/json.h"
#include "plan/select.h"

namespace duogemm::bench {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// By prediction, of at least one.
const Schedule& fastest(const std::vector<Schedule>& schedules);

// The calibrations to keep, so that the planner, which believes them, decides well. The cost model is wrong
// by some percent, for some kernels more than for others. A kernel that the model flatters is chosen where
// another is faster: the planner is better off without it.
struct PlannerFit {
  std::vector<Calibration> chosen;  // those left that the planner chooses for some of the problems
  double regret = 1.0;  // the planner's choices take this much longer than the best, as a mean of ratios
};

// Answers how long a schedule really takes for one of the problems, in seconds.
using MeasureSchedule = std::function<double(const Schedule& schedule, std::size_t problem)>;

// This many kernels are measured on a problem of which nothing is known.
inline constexpr std::size_t explored_kernels = 4;

// Takes out what leads the planner astray, the worst first, and then what is hardly worth its program, until
// what is left is worth it or `enough` says so. best: the best time of each problem as far as it was
// measured, and infinity elsewhere. Without `measure`, nothing is taken out but what the planner does not
// choose.
PlannerFit fit_planner(const std::vector<Calibration>& calibrations, const std::vector<Problem>& problems,
                       const DeviceInfo& device, const Tuning& facts, const std::vector<double>& best = {},
                       const MeasureSchedule& measure = {}, const std::function<bool()>& enough = {});

// The library's choice before versus after.
struct BeforeAfter {
  std::string label;
  Problem problem;
  bool asked;     // for the best of just this shape
  double before;  // seconds
  double after;

  double ratio() const { return before / after; }  // above 1: it is faster than it was
};

struct Comparison {
  std::vector<BeforeAfter> timed;
  std::vector<std::string> unchanged;  // the library would choose as before: there is nothing to tell
};

Ratios ratios_of(const std::vector<BeforeAfter>& compared);

// Keeps what was found for any problem if those that were not asked for, and run something else now, are
// faster on average, or nearly as fast with fewer settings; and the shapes that were asked for and are faster
// than before. For all else it is what there was. Nothing where none of these holds.
std::optional<Tuning> worth_writing(const Tuning& before, const Tuning& found,
                                    const std::vector<BeforeAfter>& compared);

// A line for each problem that was timed, and one for all. title: of the first column.
std::string comparison_text(const Comparison& comparison, const std::string& title);

Json to_json(const Comparison& comparison);

}  // namespace duogemm::bench
