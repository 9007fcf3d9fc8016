// Whether what was found is worth keeping: what the library chose before beside what it would choose.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/tuning.h"
#include "problem/problem.h"

namespace duogemm::bench {

struct BeforeAfter {
  std::string label;
  Problem problem;
  bool asked;     // for the best of just this shape
  double before;  // seconds
  double after;

  double ratio() const { return before / after; }  // above 1: it is faster than it was
};

// On several problems.
struct Contest {
  std::vector<BeforeAfter> timed;
  std::vector<std::string> unchanged;  // the library would choose as before: there is nothing to tell
};

// Over all of them.
struct Gain {
  double mean = 1.0;  // geometric, of the ratios
  double worst = 1.0;
  std::string worst_label;
};
Gain gain_of(const std::vector<BeforeAfter>& compared);

// Whether it is faster on average, and on no problem slower by more than can be noise.
bool wins(const std::vector<BeforeAfter>& compared);

// What is worth writing: what was found for any problem, if that wins on those that were not asked for, and
// the shapes that were asked for and are faster than before; for all else what there was. Nothing where
// nothing is faster.
std::optional<Tuning> worth_writing(const Tuning& before, const Tuning& found,
                                    const std::vector<BeforeAfter>& compared);

// A line for each problem that was timed, and one for all. title: of the first column.
std::string comparison_text(const Contest& contest, const std::string& title);

}  // namespace duogemm::bench
