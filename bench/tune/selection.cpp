#include "tune/selection.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "output/table.h"

namespace duogemm::bench {
namespace {

// Every setting is a program to compile, to ship and to choose among. It stays where the problems would take
// longer without it by this part of their mean.
constexpr double least_worth = 1e-4;

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

  // How much the planner gains without each setting that it chooses, as a sum of logarithms. Nothing where
  // there was not time to measure all.
  std::map<std::size_t, double> gains(const std::function<bool()>& enough) {
    std::map<std::size_t, double> gains;
    for (std::size_t problem = 0; problem < best.size(); ++problem) {
      if (enough()) {
        return {};
      }
      if (const auto i = pick(problem)) {
        const auto other = pick(problem, i);
        gains[*i] += other ? loss(problem, *i) - loss(problem, *other) : -infinity;
      }
    }
    return gains;
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
    order.resize(std::min(order.size(), explored_kernels));
    for (const auto& [seconds, i] : order) {
      loss(problem, i);
    }
  }

  void eliminate(const std::function<bool()>& enough) {
    for (std::size_t problem = 0; problem < best.size() && !enough(); ++problem) {
      if (std::isinf(best[problem])) {
        explore(problem);
      }
    }
    // What leads the planner astray goes first, and last what is hardly worth its program.
    const double least = -least_worth * static_cast<double>(best.size());
    while (true) {
      const std::map<std::size_t, double> all = gains(enough);
      const auto most = std::ranges::max_element(all, {}, [](const auto& each) { return each.second; });
      if (most == all.end() || most->second < least) {
        return;
      }
      out[most->first] = true;
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
      const bool known = choices.measured[*i][problem] > 0.0;
      sum += measure && (known || !enough()) ? choices.loss(problem, *i) : 0.0;
    }
  }
  PlannerFit fit{{}, std::exp(sum / static_cast<double>(std::max<std::size_t>(problems.size(), 1)))};
  for (const std::size_t i : picked) {
    fit.chosen.push_back(calibrations[i]);
  }
  return fit;
}

Ratios ratios_of(const std::vector<BeforeAfter>& compared) {
  Ratios ratios;
  for (const BeforeAfter& each : compared) {
    ratios.add(each.label, each.ratio());
  }
  return ratios;
}

std::optional<Tuning> worth_writing(const Tuning& before, const Tuning& found,
                                    const std::vector<BeforeAfter>& compared) {
  constexpr double least_mean = 1.005;
  std::vector<BeforeAfter> others = compared;
  std::erase_if(others, [](const BeforeAfter& each) { return each.asked; });
  const Ratios ratios = ratios_of(others);
  const bool fewer = found.calibrations.size() < before.calibrations.size();
  bool any = ratios.count > 0 && ratios.mean() >= (fewer ? 1.0 / least_mean : least_mean);
  Tuning kept = any ? found : before;
  kept.target = found.target;
  kept.evidence = found.evidence;
  kept.shapes = before.shapes;
  for (const BeforeAfter& each : compared) {
    if (each.asked && each.ratio() >= least_mean) {
      const auto is_of_problem = [&](const TunedShape& shape) { return shape.is_of(each.problem); };
      std::erase_if(kept.shapes, is_of_problem);
      std::ranges::copy_if(found.shapes, std::back_inserter(kept.shapes), is_of_problem);
      any = true;
    }
  }
  return any ? std::optional(kept) : std::nullopt;
}

std::string comparison_text(const Comparison& comparison, const std::string& title) {
  const std::size_t count = comparison.unchanged.size();
  std::string same =
      count == 0 ? "" : "For " + std::to_string(count) + " shapes the library would choose as before.\n";
  if (comparison.timed.empty()) {
    return same;
  }
  Table table{left(title), "GFLOP/s before", "after", "ratio"};
  for (const BeforeAfter& each : comparison.timed) {
    const double work = 1e-9 * each.problem.flops();
    table.add_row({each.label, format("%.1f", work / each.before), format("%.1f", work / each.after),
                   format("%.3f", each.ratio())});
  }
  table.add_row({"mean", "", "", format("%.3f", ratios_of(comparison.timed).mean())});
  return table.text() + same;
}

Json to_json(const Comparison& comparison) {
  const Ratios ratios = ratios_of(comparison.timed);
  Json json = {{"unchanged", comparison.unchanged},
               {"mean", ratios.count > 0 ? Json(ratios.mean()) : Json(nullptr)},
               {"worst", ratios.count > 0 ? Json(ratios.worst) : Json(nullptr)},
               {"rows", Json::array()}};
  for (const BeforeAfter& each : comparison.timed) {
    json["rows"].push_back({{"label", each.label},
                            {"problem", to_json(each.problem)},
                            {"asked", each.asked},
                            {"before_s", each.before},
                            {"after_s", each.after},
                            {"ratio", each.ratio()}});
  }
  return json;
}

}  // namespace duogemm::bench
