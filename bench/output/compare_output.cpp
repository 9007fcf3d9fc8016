#include "output/compare_output.h"

#include <algorithm>

#include "problem/precision.h"

namespace duogemm::bench {
namespace {

std::string microseconds(const Samples& samples) {
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

std::vector<std::string> cells(const CompareReport& report, const ProblemRows& problem) {
  const Problem& p = problem.shape.problem;
  const Samples& ours = problem.rows.front().samples;
  const bool timed = !ours.seconds.empty();
  std::vector<std::string> cells = {problem.shape.label,
                                    std::to_string(p.m),
                                    std::to_string(p.n),
                                    std::to_string(p.k),
                                    ops_of(p),
                                    p.batch == 1 ? "-" : std::to_string(p.batch),
                                    timed ? microseconds(ours) : "-",
                                    timed ? format("%.1f", 1e-9 * p.flops() / ours.median()) : "-"};
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    const std::optional<double> found = ratio(problem, i);
    cells.push_back(found ? microseconds(problem.rows[i + 1].samples) : "-");
    cells.push_back(found ? format("%.3f", *found) : "-");
  }
  cells.push_back(status(problem));
  return cells;
}

constexpr std::ptrdiff_t first_figure = 6;  // columns before it are known of a shape

Table empty_table(const CompareReport& report, const std::string& list) {
  Table table = {left(list), "M", "N", "K", "ops", "batch", "us", "GFLOP/s"};
  for (const Peer& other : report.others) {
    table.add_column(other.title + " us");
    table.add_column("ratio");
  }
  table.add_column(left(""));
  return table;
}

void add_summary(Table& table, const CompareReport& report, const std::string& list) {
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    const Ratios ratios = summarize(report, i, list);
    const bool any = ratios.count > 0;
    table.add_row({list.empty() ? "all" : list, report.others[i].title, std::to_string(ratios.count),
                   any ? format("%.3f", ratios.mean()) : "-", any ? format("%.3f", ratios.worst) : "-",
                   std::to_string(ratios.below_1), std::to_string(ratios.below_095), ratios.worst_label});
  }
}

Json other_json(const Row& other, const std::optional<double>& ratio) {
  Json json = {{"title", other.title}};
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
               {"others", Json::array()}});
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    json["others"].push_back(other_json(problem.rows[i + 1], ratio(problem, i)));
  }
  return json;
}

// list: empty for all.
void add_summary(Json& json, const CompareReport& report, const std::string& list) {
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    const Ratios ratios = summarize(report, i, list);
    const bool any = ratios.count > 0;
    json.push_back({{"list", list.empty() ? Json(nullptr) : Json(list)},
                    {"title", report.others[i].title},
                    {"shapes", ratios.count},
                    {"geometric_mean", any ? Json(ratios.mean()) : Json(nullptr)},
                    {"worst", any ? Json(ratios.worst) : Json(nullptr)},
                    {"worst_label", ratios.worst_label},
                    {"below_1", ratios.below_1},
                    {"below_095", ratios.below_095}});
  }
}

Json report_json(const CompareReport& report, const CompareRequest& request) {
  Json json = to_json(static_cast<const Machine&>(report));
  json.update({{"warnings", report.warnings(request.measure.noise)},
               {"others", to_json(report.others)},
               {"rows", Json::array()},
               {"summary", Json::array()}});
  for (const ProblemRows& problem : report.problems) {
    json["rows"].push_back(problem_json(report, problem));
  }
  add_summary(json["summary"], report, "");
  for (const ShapeList& list : request.lists) {
    add_summary(json["summary"], report, list.name);
  }
  return json;
}

}  // namespace

std::string head_text(const CompareReport& report) {
  const CompareConditions& conditions = report.conditions;
  std::string text = report.device.name + " through " + report.device.runtime + ", driver " +
                     (report.gpu_before ? report.gpu_before->driver : report.device.driver) + "\n";
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
  return text + "versus " + (report.others.empty() ? "nobody" : join(report.others, ", ", &Peer::name)) +
         "\n";
}

std::string list_text(const CompareReport& report, const std::string& list) {
  Table table = empty_table(report, list);
  for (const ProblemRows& problem : report.problems) {
    if (problem.list == list) {
      table.add_row(cells(report, problem));
    }
  }
  return table.text();
}

ListTable::ListTable(const CompareReport& report, const ShapeList& list)
    : table_(empty_table(report, list.name)) {
  for (const NamedShape& shape : list.shapes) {
    const ProblemRows to_come{.shape = shape, .skipped = "not yet", .rows = {Row()}};
    std::vector<std::string> widest = cells(report, to_come);
    std::fill(widest.begin() + first_figure, widest.end() - 1, "100000.0");
    widest.back().clear();
    table_.add_row(std::move(widest));
  }
}

std::string ListTable::row(const CompareReport& report, const ProblemRows& problem) const {
  return table_.row(cells(report, problem));
}

std::string summary_text(const CompareReport& report) {
  if (report.others.empty()) {
    return {};
  }
  Table table = {left("list"), left("ratio to"), "shapes",         "mean", "worst",
                 "< 1",        "< 0.95",         left("the worst")};
  std::string last;
  std::size_t lists = 0;
  for (const ProblemRows& problem : report.problems) {
    if (problem.list != last) {
      add_summary(table, report, problem.list);
      last = problem.list;
      ++lists;
    }
  }
  if (lists > 1) {
    add_summary(table, report, "");
  }
  return table.text();
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
  json["runs"] = Json::array();
  for (const CompareReport& report : reports) {
    json["runs"].push_back(report_json(report, request));
  }
  return json;
}

}  // namespace duogemm::bench
