#include "tune/comparison.h"

#include <algorithm>
#include <iterator>

#include "output/table.h"

namespace duogemm::bench {
Ratios ratios_of(const std::vector<BeforeAfter>& compared) {
  Ratios ratios;
  for (const BeforeAfter& each : compared) {
    ratios.add(each.label, each.ratio());
  }
  return ratios;
}

std::optional<Tuning> worth_writing(const Tuning& before, const Tuning& found,
                                    const std::vector<BeforeAfter>& compared) {
  constexpr double least_mean = 1.01;
  constexpr double least_ratio = 0.98;
  std::vector<BeforeAfter> others = compared;
  std::erase_if(others, [](const BeforeAfter& each) { return each.asked; });
  const Ratios ratios = ratios_of(others);
  bool any = ratios.mean() >= least_mean && ratios.worst >= least_ratio;
  Tuning kept = any ? found : before;
  kept.target = found.target;
  kept.compiled_by = found.compiled_by;
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
