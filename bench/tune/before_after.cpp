#include "tune/before_after.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "support/table.h"

namespace duogemm::bench {
namespace {

constexpr double least_mean = 1.01;
constexpr double least_ratio = 0.98;

bool is_shape(const TunedShape& shape, const Problem& problem) {
  return shape.m == problem.m && shape.n == problem.n && shape.k == problem.k &&
         shape.batch == problem.batch && shape.a_transposed == (problem.a_op == Transpose::yes) &&
         shape.b_transposed == (problem.b_op == Transpose::yes);
}

// Puts the found best of the problem's shape in the place of what there was.
void take_over(Tuning& tuning, const Tuning& found, const Problem& problem) {
  std::erase_if(tuning.shapes, [&](const TunedShape& shape) { return is_shape(shape, problem); });
  std::copy_if(found.shapes.begin(), found.shapes.end(), std::back_inserter(tuning.shapes),
               [&](const TunedShape& shape) { return is_shape(shape, problem); });
}

}  // namespace

std::optional<Tuning> worth_writing(const Tuning& before, const Tuning& found,
                                    const std::vector<BeforeAfter>& compared) {
  std::vector<BeforeAfter> others;
  std::copy_if(compared.begin(), compared.end(), std::back_inserter(others),
               [](const BeforeAfter& each) { return !each.asked; });
  bool any = !others.empty() && wins(others);
  Tuning kept = any ? found : before;
  kept.target = found.target;
  kept.evidence = found.evidence;
  kept.shapes = before.shapes;
  for (const BeforeAfter& each : compared) {
    if (each.asked && each.ratio() >= least_mean) {
      take_over(kept, found, each.problem);
      any = true;
    }
  }
  return any ? std::optional(kept) : std::nullopt;
}

Gain gain_of(const std::vector<BeforeAfter>& compared) {
  Gain gain;
  double logarithms = 0.0;
  for (const BeforeAfter& each : compared) {
    logarithms += std::log(each.ratio());
    if (gain.worst_label.empty() || each.ratio() < gain.worst) {
      gain.worst = each.ratio();
      gain.worst_label = each.label;
    }
  }
  gain.mean = compared.empty() ? 1.0 : std::exp(logarithms / static_cast<double>(compared.size()));
  return gain;
}

bool wins(const std::vector<BeforeAfter>& compared) {
  const Gain gain = gain_of(compared);
  return gain.mean >= least_mean && gain.worst >= least_ratio;
}

std::string comparison_text(const Contest& contest, const std::string& title) {
  std::string same = contest.unchanged.empty() ? ""
                                               : "For " + std::to_string(contest.unchanged.size()) +
                                                     " shapes the library would choose as before.\n";
  if (contest.timed.empty()) {
    return same;
  }
  Table table;
  table.add_column(title, Table::Align::left);
  for (const char* column : {"GFLOP/s before", "after", "ratio"}) {
    table.add_column(column);
  }
  for (const BeforeAfter& each : contest.timed) {
    const double work = 1e-9 * each.problem.flops();
    table.add_row({each.label, format("%.1f", work / each.before), format("%.1f", work / each.after),
                   format("%.3f", each.ratio())});
  }
  table.add_row({"mean", "", "", format("%.3f", gain_of(contest.timed).mean)});
  return table.text() + same;
}

}  // namespace duogemm::bench
