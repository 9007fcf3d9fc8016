#include <algorithm>
#include <set>

#include "output/reports.h"

namespace duogemm::bench {
namespace {

std::string status_of(const SweepPoint& point) {
  return point.invalid.empty() ? status_text(point.row) : "not possible: " + point.invalid;
}

std::string speed_text(const SweepPoint& point) {
  return !point.ran() ? "-" : point.row.right() ? format("%.1f", point.speed() / gigaflop) : "WRONG";
}

bool is_grid(const SweepReport& report) { return report.axes.size() == 2; }

std::size_t points_in_line(const SweepReport& report) {
  return is_grid(report) ? report.axes[1].values.size() : 1;
}

// A line is about its first point and those that follow it.
Columns<const SweepPoint*> columns_of(const SweepReport& report) {
  using Point = const SweepPoint*;
  const auto value = [](Point point) { return std::to_string(point->at[0]); };
  if (is_grid(report)) {
    Columns<Point> columns = {{report.axes[0].name + " \\ " + report.axes[1].name, value}};
    for (std::size_t i = 0; i < points_in_line(report); ++i) {
      columns.emplace_back(measured(std::to_string(report.axes[1].values[i])),
                           [i](Point first) { return speed_text(first[i]); });
    }
    return columns;
  }
  const auto percent = [](double share) { return format("%.1f%%", 100.0 * share); };
  return {{report.axes[0].name, value},
          {measured("GFLOP/s"), [](Point point) { return speed_text(*point); }},
          {measured("spread", 6),
           [=](Point point) { return point->ran() ? percent(point->row.samples.spread()) : "-"; }},
          {measured("of " + library_title(report.reference), 6),
           [=](Point point) {
             return point->ran() && point->reference > 0.0 ? percent(point->speed() / point->reference) : "-";
           }},
          {left(""), [](Point point) { return status_of(*point); }}};
}

// Its lines come later.
Table empty_table(const Columns<const SweepPoint*>& columns, const SweepReport& report) {
  Table table = table_of(columns);
  for (const std::int64_t value : report.axes[0].values) {
    std::vector<std::string> cells(columns.size());
    cells[0] = std::to_string(value);
    table.add_row(std::move(cells));
  }
  return table;
}

// Why there are no figures where a grid has none.
std::string reasons_text(const SweepReport& report) {
  std::set<std::string> reasons;
  for (const SweepPoint& point : report.points) {
    if (!point.ran() || !point.row.right()) {
      reasons.insert(filled("- " + status_of(point), 2));
    }
  }
  return join(reasons, "");
}

std::string best_text(const SweepReport& report) {
  const SweepPoint* best = nullptr;
  for (const SweepPoint& point : report.points) {
    if (point.ran() && (!best || point.speed() > best->speed())) {
      best = &point;
    }
  }
  if (!best) {
    return "";
  }
  std::string text = "Fastest: ";
  for (std::size_t i = 0; i < report.axes.size(); ++i) {
    text += (i > 0 ? " " : "") + report.axes[i].name + "=" + std::to_string(best->at[i]);
  }
  return text + format(", %.1f GFLOP/s\n", best->speed() / gigaflop);
}

Json point_json(const SweepPoint& point) {
  Json json = {{"at", point.at}, {"m", point.shape.m}, {"n", point.shape.n}, {"k", point.shape.k}};
  if (!point.invalid.empty()) {
    json["invalid"] = point.invalid;
    return json;
  }
  json["row"] = to_json(point.row, point.shape.flops());
  json["reference_gflops"] = or_null(point.reference / gigaflop);
  return json;
}

}  // namespace

std::string SweepText::more(const SweepReport& report) {
  const Columns<const SweepPoint*> columns = columns_of(report);
  const Table table = empty_table(columns, report);
  std::string text;
  if (lines_ == 0) {
    text = filled(report.spec->name + " on " + report.device.name + " through " + report.device.runtime +
                  (is_grid(report) ? ", GFLOP/s" : "")) +
           table.head();
  }
  for (; lines_ < report.axes[0].values.size(); ++lines_) {
    const SweepPoint* first = &report.points[lines_ * points_in_line(report)];
    if (!std::all_of(first, first + points_in_line(report), std::mem_fn(&SweepPoint::done))) {
      break;
    }
    text += table.row(cells_of(columns, first));
  }
  return lines_ == 0 ? "" : text;
}

std::string SweepText::end(const SweepReport& report) {
  const std::string last_lines = more(report);
  return last_lines + (lines_ == 0 ? "" : empty_table(columns_of(report), report).foot()) +
         (is_grid(report) ? reasons_text(report) : "") + best_text(report);
}

Json sweep_json(const SweepReport& report, const SweepRequest& request) {
  Json json = file_head("duogemm.sweep/1", request.cold, request.measure);
  json.update({{"device", to_json(report.device)},
               {"rung", label_of(*report.spec)},
               {"kernel", report.spec->name},
               {"peak_gflops", report.peak / gigaflop},
               {"reference", or_null(report.reference)},
               {"gpu_during", to_json(report.gpu_during)},
               {"warnings", report.warnings},
               {"axes", list_of(report.axes,
                                [](const Axis& axis) -> Json {
                                  return {{"name", axis.name}, {"values", axis.values}};
                                })},
               {"points", list_of(report.points, point_json)}});
  return json;
}

}  // namespace duogemm::bench
