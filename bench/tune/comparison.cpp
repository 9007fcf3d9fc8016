#include "tune/comparison.h"

#include <algorithm>
#include <iterator>

#include "output/table.h"
#include "tune/tuned_shapes.h"

namespace duogemm::bench {
namespace {

constexpr double least_mean = 1.01;
constexpr double least_ratio = 0.98;

// Slower than this at first sight may be bad luck.
constexpr double doubtful = 0.99;

BeforeAfter time(const NamedShape& shape, const Schedule& before, const Schedule& after, Workbench& bench) {
  const Schedule both[] = {before, after};
  Effort effort{.samples = 7, .sample_seconds = bench.on_cpu() ? 5e-3 : 2e-4};
  std::vector<double> seconds = bench.seconds(both, shape.problem, effort);
  if (seconds[0] < doubtful * seconds[1]) {
    effort.samples = 21;
    seconds = bench.seconds(both, shape.problem, effort);
  }
  const bool asked = std::ranges::any_of(bench.options.shapes,
                                         [&](const NamedShape& each) { return each.label == shape.label; });
  return {shape.label, shape.problem, asked, seconds[0], seconds[1]};
}

// Puts the found best of the problem's shape in the place of what there was.
void take_over(Tuning& tuning, const Tuning& found, const Problem& problem) {
  const auto is_of_problem = [&](const TunedShape& shape) { return key_of(shape) == key_of(problem); };
  std::erase_if(tuning.shapes, is_of_problem);
  std::ranges::copy_if(found.shapes, std::back_inserter(tuning.shapes), is_of_problem);
}

}  // namespace

Comparison compare(const std::vector<NamedShape>& shapes, const Planner& before, const Planner& after,
                   Workbench& bench, bool limited) {
  Comparison comparison;
  for (const NamedShape& shape : shapes) {
    if (limited ? bench.enough() : bench.stopped()) {
      break;
    }
    if (!bench.fits(shape.problem)) {
      continue;
    }
    const Schedule one = before.select(shape.problem);
    const Schedule other = after.select(shape.problem);
    if (to_text(one) == to_text(other)) {
      comparison.unchanged.push_back(shape.label);
      continue;
    }
    try {
      comparison.timed.push_back(time(shape, one, other, bench));
    } catch (const Error& error) {
      if (!is_of_setting(error)) {
        throw;
      }
    }
  }
  return comparison;
}

std::vector<NamedShape> shapes_to_compare(const std::vector<Field>& fields, Workbench& bench) {
  double fastest = 0.0;  // FLOP/s
  std::vector<NamedShape> others = bench.options.judges;
  for (const Field& field : fields) {
    for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
      const auto& [label, problem] = field.probes[probe];
      fastest = std::max(fastest, problem.flops() / field.incumbent(probe));
      others.push_back({field.kind.name() + " " + label, problem});
    }
  }
  std::erase_if(others, [&](const NamedShape& shape) {
    return field_of(fields, shape.problem) == nullptr ||
           shape.problem.flops() > fastest * bench.seconds_of(judge_share);
  });
  std::ranges::shuffle(others, bench.random);
  std::vector<NamedShape> all = bench.options.shapes;
  std::ranges::move(others, std::back_inserter(all));
  return all;
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
  std::vector<BeforeAfter> others;
  std::ranges::copy_if(compared, std::back_inserter(others), [](const auto& each) { return !each.asked; });
  const Ratios ratios = ratios_of(others);
  bool any = ratios.mean() >= least_mean && ratios.worst >= least_ratio;
  Tuning kept = any ? found : before;
  kept.target = found.target;
  kept.compiled_by = found.compiled_by;
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

std::string comparison_text(const Comparison& comparison, const std::string& title) {
  std::string same = comparison.unchanged.empty() ? ""
                                                  : "For " + std::to_string(comparison.unchanged.size()) +
                                                        " shapes the library would choose as before.\n";
  if (comparison.timed.empty()) {
    return same;
  }
  Table table;
  table.add_column(title, Table::Align::left);
  for (const char* column : {"GFLOP/s before", "after", "ratio"}) {
    table.add_column(column);
  }
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
