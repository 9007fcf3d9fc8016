// What the library chose before beside what the tuner found.
#include <algorithm>

#include "plan/lower.h"
#include "tune/tuner_limits.h"

namespace duogemm::bench {
namespace {

// Slower than this at first sight may be bad luck.
constexpr double doubtful = 0.99;

}  // namespace

Contest Tuner::compare(const Planner& before, const Planner& after) {
  reserve_ = 0.0;
  Contest contest;
  for (const NamedShape& shape : problems_to_compare()) {
    if (enough()) {
      break;
    }
    compare_on(shape, before, after, contest);
  }
  return contest;
}

Contest Tuner::compare_on(const std::vector<NamedShape>& shapes, const Planner& before,
                          const Planner& after) {
  Contest contest;
  for (const NamedShape& shape : shapes) {
    if (!stop_ && fits(shape.problem, device_.info())) {
      compare_on(shape, before, after, contest);
    }
  }
  return contest;
}

void Tuner::compare_on(const NamedShape& shape, const Planner& before, const Planner& after,
                       Contest& contest) {
  const Schedule one = before.select(shape.problem);
  const Schedule other = after.select(shape.problem);
  if (to_text(one) == to_text(other)) {
    contest.unchanged.push_back(shape.label);
    return;
  }
  try {
    contest.timed.push_back(time(shape, one, other));
  } catch (const Error& error) {
    if (!of_candidate(error)) {
      throw;
    }
  }
}

// The shapes that were asked for, and then those that take a small part of the budget, in any order.
std::vector<NamedShape> Tuner::problems_to_compare() {
  double fastest = 0.0;  // FLOP/s
  std::vector<NamedShape> others = options_.judges;
  for (const Field& field : fields_) {
    for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
      const Problem& problem = field.probes[probe].problem;
      fastest = std::max(fastest, problem.flops() / incumbent(field, probe));
      others.push_back({field.kind.name() + " " + field.probes[probe].label, problem});
    }
  }
  std::erase_if(others, [&](const NamedShape& shape) {
    return !fits(shape.problem, device_.info()) || field_of(shape.problem) == nullptr ||
           shape.problem.flops() > fastest * options_.budget * judge_share;
  });
  std::shuffle(others.begin(), others.end(), random_);
  std::vector<NamedShape> all = options_.shapes;
  std::erase_if(all, [&](const NamedShape& shape) { return !fits(shape.problem, device_.info()); });
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

BeforeAfter Tuner::time(const NamedShape& shape, const Schedule& before, const Schedule& after) {
  const std::vector<Plan> plans = {lower(before, shape.problem, device_.info()),
                                   lower(after, shape.problem, device_.info())};
  const double sample_seconds = device_.info().kind == DeviceKind::cpu ? 5e-3 : 2e-4;
  std::vector<double> seconds =
      stopwatch_.seconds(plans, shape.problem, {.samples = 7, .sample_seconds = sample_seconds});
  if (seconds[0] < doubtful * seconds[1]) {
    seconds = stopwatch_.seconds(plans, shape.problem, {.samples = 21, .sample_seconds = sample_seconds});
  }
  const bool asked = std::any_of(options_.shapes.begin(), options_.shapes.end(),
                                 [&](const NamedShape& each) { return each.label == shape.label; });
  return {shape.label, shape.problem, asked, seconds[0], seconds[1]};
}

}  // namespace duogemm::bench
