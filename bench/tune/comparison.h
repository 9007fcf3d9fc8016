// Decides whether what was found is worth keeping: the library's choice before versus after.
#pragma once

#include "output/json.h"
#include "plan/tuning.h"

namespace duogemm::bench {

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

// Keeps what was found for any problem if on those that were not asked for it is faster on
// average, and on none slower by more than can be noise; and the shapes that were asked for and are faster
// than before. For all else it is what there was. Nothing where nothing is faster.
std::optional<Tuning> worth_writing(const Tuning& before, const Tuning& found,
                                    const std::vector<BeforeAfter>& compared);

// A line for each problem that was timed, and one for all. title: of the first column.
std::string comparison_text(const Comparison& comparison, const std::string& title);

Json to_json(const Comparison& comparison);

}  // namespace duogemm::bench
