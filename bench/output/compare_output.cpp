#include <algorithm>
#include <iterator>

#include "output/reports.h"
#include "problem/precision.h"

namespace duogemm::bench {
namespace {

std::string microseconds(const Samples& samples) {
  if (samples.seconds.empty()) {
    return "-";
  }
  const double value = 1e6 * samples.median();
  return format(value < 100.0 ? "%.2f" : value < 10000.0 ? "%.1f" : "%.0f", value);
}

std::string status(const ProblemRows& problem) {
  const Row& ours = problem.rows.front();
  if (!problem.skipped.empty()) {
    return "skipped: " + problem.skipped;
  }
  if (!ours.verdict.ok()) {
    return "WRONG: " + ours.verdict.first_fault;
  }
  if (!ours.repeatable) {
    return "WRONG: a second run gave other bits";
  }
  std::string text = "ok";
  for (auto other = problem.rows.begin() + 1; other != problem.rows.end(); ++other) {
    if (!other->missing.empty()) {
      text += "; no " + other->title + ": " + other->missing;
    } else if (other->verdict.worst_error > 1.0) {
      text += "; " + other->title + format(" is wrong by %.3g bounds", other->verdict.worst_error);
    }
  }
  return text;
}

std::string problem_text(const ProblemRows& rows) {
  const Problem& p = rows.shape.problem;
  return std::to_string(p.m) + " " + std::to_string(p.n) + " " + std::to_string(p.k) + " " + ops_of(p) +
         (p.batch == 1 ? "" : " " + std::to_string(p.batch));
}

// What matters most comes first: a terminal may have no room for the last.
Columns<ProblemRows> columns_of(const CompareReport& report, const std::string& list) {
  Columns<ProblemRows> columns = {
      {left(list), [](const ProblemRows& rows) { return rows.shape.label; }},
      {measured("GFLOP/s"), [](const ProblemRows& rows) {
         const Samples& ours = rows.rows.front().samples;
         return ours.seconds.empty() ? "-"
                                     : format("%.1f", rows.shape.problem.flops() / ours.median() / gigaflop);
       }}};
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    columns.emplace_back(measured("vs " + report.others[i].title, 6), [i](const ProblemRows& rows) {
      const std::optional<double> found = ratio(rows, i);
      return found ? format("%.3f", *found) : "-";
    });
  }
  columns.emplace_back(measured("us"),
                       [](const ProblemRows& rows) { return microseconds(rows.rows.front().samples); });
  columns.emplace_back("M N K ops batch", problem_text);
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    columns.emplace_back(measured(report.others[i].title + " us"), [i](const ProblemRows& rows) {
      return ratio(rows, i) ? microseconds(rows.rows[i + 1].samples) : "-";
    });
  }
  columns.emplace_back(left(""), status);
  return columns;
}

Json other_json(const std::string& title, const Row& other, const std::optional<double>& ratio) {
  Json json = {{"title", title}};
  if (!other.missing.empty()) {
    json["unavailable"] = other.missing;
    return json;
  }
  json.update({{"error_per_bound", other.verdict.worst_error},
               {"ratio", or_null(ratio)},
               {"time", to_json(other.samples)}});
  return json;
}

Json problem_json(const CompareReport& report, const ProblemRows& problem) {
  Json json = {{"list", problem.list}, {"label", problem.shape.label}};
  json.update(to_json(problem.shape.problem));
  if (!problem.skipped.empty()) {
    json["skipped"] = problem.skipped;
    return json;
  }
  const Row& ours = problem.rows.front();
  json.update({{"plan", ours.plan},
               {"ok", is_ok(problem)},
               {"same_bits_again", ours.repeatable},
               {"computed_anew", ours.verdict.computed},
               {"error_per_bound", ours.verdict.worst_error},
               {"different_bits", ours.verdict.different_bits},
               {"not_finite", ours.verdict.not_finite},
               {"overwritten", ours.verdict.overwritten},
               {"gflops", gflops(problem.shape.problem.flops(), ours.samples)},
               {"time", to_json(ours.samples)},
               {"others", list_of(report.others.size(), [&](std::size_t i) {
                  return other_json(report.others[i].title, problem.rows[i + 1], ratio(problem, i));
                })}});
  return json;
}

// The ratios to each other contender, over the lists of these names; an empty one stands for all.
Json summary_json(const CompareReport& report, const std::vector<std::string>& lists) {
  Json json = Json::array();
  for (const std::string& list : lists) {
    for (std::size_t i = 0; i < report.others.size(); ++i) {
      const Ratios ratios = summarize(report, i, list);
      const bool any = ratios.count > 0;
      json.push_back({{"list", or_null(list)},
                      {"title", report.others[i].title},
                      {"shapes", ratios.count},
                      {"geometric_mean", any ? Json(ratios.mean()) : Json(nullptr)},
                      {"worst", any ? Json(ratios.worst) : Json(nullptr)},
                      {"worst_label", ratios.worst_label},
                      {"below_1", ratios.below_1},
                      {"below_095", ratios.below_095}});
    }
  }
  return json;
}

Json report_json(const CompareReport& report, const CompareRequest& request) {
  std::vector<std::string> lists = {""};
  std::ranges::transform(request.lists, std::back_inserter(lists), &ShapeList::name);
  Json json = to_json(static_cast<const Machine&>(report));
  json.update(
      {{"warnings", report.warnings(request.measure.noise)},
       {"others", to_json(report.others)},
       {"rows", list_of(report.problems, [&](const auto& rows) { return problem_json(report, rows); })},
       {"summary", summary_json(report, lists)}});
  return json;
}

}  // namespace

std::string head_text(const CompareReport& report) {
  const CompareConditions& conditions = report.conditions;
  std::string text = filled(report.device.name + " through " + report.device.runtime + ", driver " +
                            (report.gpu_before ? report.gpu_before->driver : report.device.driver));
  text += conditions.through == Through::host   ? "called on plain arrays\n"
          : conditions.through == Through::blas ? "called on plain arrays through libduogemm_blas\n"
                                                : "";
  if (conditions.device_memory) {
    text += "with at most " + std::to_string(*conditions.device_memory) + " bytes of device memory\n";
  }
  if (conditions.callers > 1) {
    text += "by " + std::to_string(conditions.callers) + " threads at once\n";
  }
  if (conditions.precision != Precision::fp32) {
    text += std::string("products may be computed by ") + to_text(conditions.precision) + "\n";
  }
  return text +
         filled("versus " + (report.others.empty() ? "nobody" : join(report.others, ", ", &Peer::name)));
}

std::string list_text(const CompareReport& report, const std::string& list) {
  const Columns<ProblemRows> columns = columns_of(report, list);
  Table table = table_of(columns);
  for (const ProblemRows& problem : report.problems) {
    if (problem.list == list) {
      table.add_row(cells_of(columns, problem));
    }
  }
  return table.text();
}

ListTable::ListTable(const CompareReport& report, const ShapeList& list)
    : columns_(columns_of(report, list.name)), table_(table_of(columns_)) {
  for (const NamedShape& shape : list.shapes) {
    const ProblemRows unmeasured{.list = list.name, .shape = shape, .skipped = "not yet", .rows = {Row()}};
    std::vector<std::string> cells = cells_of(columns_, unmeasured);
    cells.back().clear();
    table_.add_row(std::move(cells));
  }
}

std::string summary_text(const CompareReport& report) {
  if (report.others.empty()) {
    return {};
  }
  std::vector<std::string> lists;
  for (const ProblemRows& problem : report.problems) {
    if (lists.empty() || lists.back() != problem.list) {
      lists.push_back(problem.list);
    }
  }
  if (lists.size() > 1) {
    lists.emplace_back();
  }
  const auto count = [](const char* member) {
    return [member](const Json& row) { return row[member].dump(); };
  };
  const auto figure = [](const char* member) {
    return [member](const Json& row) {
      return row[member].is_null() ? "-" : format("%.3f", row[member].get<double>());
    };
  };
  const Columns<Json> columns = {
      {left("list"),
       [](const Json& row) { return row["list"].is_null() ? "all" : row["list"].get<std::string>(); }},
      {left("ratio to"), [](const Json& row) { return row["title"].get<std::string>(); }},
      {"shapes", count("shapes")},
      {"mean", figure("geometric_mean")},
      {"worst", figure("worst")},
      {"< 1", count("below_1")},
      {"< 0.95", count("below_095")},
      {left("the worst"), [](const Json& row) { return row["worst_label"].get<std::string>(); }}};
  return table_of(columns, summary_json(report, lists)).text();
}

Json compare_json(const std::vector<CompareReport>& reports, const CompareRequest& request) {
  const CompareConditions& conditions = request.conditions;
  Json json = file_head("duogemm.compare/1", conditions.cold, request.measure);
  json.update({{"graph", conditions.graph},
               {"level", request.level},
               {"precision", to_text(conditions.precision)},
               {"through", name_of(conditions.through)}});
  if (conditions.device_memory) {
    json["device_memory"] = *conditions.device_memory;
  }
  if (conditions.callers > 1) {
    json["callers"] = conditions.callers;
  }
  json["runs"] = list_of(reports, [&](const auto& report) { return report_json(report, request); });
  return json;
}

}  // namespace duogemm::bench
