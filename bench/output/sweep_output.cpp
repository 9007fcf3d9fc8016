#include "output/sweep_output.h"

#include <algorithm>
#include <set>

#include "output/ladder_output.h"
#include "output/table.h"

namespace duogemm::bench {
namespace {

std::string status_of(const SweepPoint& point) {
  return point.invalid.empty() ? status_text(point.row) : "not possible: " + point.invalid;
}

std::string speed_text(const SweepPoint& point) {
  if (!point.ran()) {
    return "-";
  }
  return point.row.right() ? format("%.1f", point.speed() / gigaflop) : "WRONG";
}

// As wide as figures that come later.
constexpr const char* widest_speed = "100000.0";

std::vector<std::string> line_cells(const SweepPoint& point) {
  const bool ran = point.ran();
  return {std::to_string(point.at[0]), speed_text(point),
          ran ? format("%.1f%%", 100.0 * point.row.samples.spread()) : "-",
          ran && point.reference > 0.0 ? format("%.1f%%", 100.0 * point.speed() / point.reference) : "-",
          status_of(point)};
}

Table line_table(const SweepReport& report) {
  Table table = {report.axes[0].name, "GFLOP/s", "spread", "of " + library_title(report.reference), left("")};
  for (const std::int64_t value : report.axes[0].values) {
    table.add_row({std::to_string(value), widest_speed, "", "", ""});
  }
  return table;
}

std::vector<std::string> grid_cells(const SweepReport& report, std::size_t line) {
  const std::size_t across = report.axes[1].values.size();
  std::vector<std::string> cells = {std::to_string(report.axes[0].values[line])};
  for (std::size_t i = 0; i < across; ++i) {
    cells.push_back(speed_text(report.points[line * across + i]));
  }
  return cells;
}

Table grid_table(const SweepReport& report) {
  const Axis& down = report.axes[0];
  const Axis& across = report.axes[1];
  Table table = {down.name + " \\ " + across.name};
  for (const std::int64_t value : across.values) {
    table.add_column(std::to_string(value));
  }
  for (const std::int64_t value : down.values) {
    std::vector<std::string> cells(across.values.size() + 1, widest_speed);
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
      reasons.insert(status_of(point));
    }
  }
  std::string text;
  for (const std::string& reason : reasons) {
    text += "- " + reason + "\n";
  }
  return text;
}

std::string place_text(const SweepReport& report, const SweepPoint& point) {
  std::string text;
  for (std::size_t i = 0; i < report.axes.size(); ++i) {
    text += (i > 0 ? " " : "") + report.axes[i].name + "=" + std::to_string(point.at[i]);
  }
  return text;
}

std::string best_text(const SweepReport& report) {
  const SweepPoint* best = nullptr;
  for (const SweepPoint& point : report.points) {
    if (point.ran() && (!best || point.speed() > best->speed())) {
      best = &point;
    }
  }
  return best ? "Fastest: " + place_text(report, *best) + format(", %.1f GFLOP/s\n", best->speed() / gigaflop)
              : "";
}

Json point_json(const SweepPoint& point) {
  Json json = {{"at", point.at}, {"m", point.shape.m}, {"n", point.shape.n}, {"k", point.shape.k}};
  if (!point.invalid.empty()) {
    json["invalid"] = point.invalid;
    return json;
  }
  json["row"] = to_json(point.row, point.shape.flops());
  json["reference_gflops"] = point.reference > 0.0 ? Json(point.reference / gigaflop) : Json(nullptr);
  return json;
}

}  // namespace

std::string SweepText::more(const SweepReport& report) {
  const bool grid = report.axes.size() == 2;
  const Table table = grid ? grid_table(report) : line_table(report);
  std::string text;
  if (lines_ == 0) {
    text = report.spec->name + " on " + report.device.name + " through " + report.device.runtime +
           (grid ? ", GFLOP/s" : "") + "\n" + table.head();
  }
  const std::size_t points_in_line = grid ? report.axes[1].values.size() : 1;
  const auto is_done = [&](std::size_t line) {
    const auto first = report.points.begin() + static_cast<std::ptrdiff_t>(line * points_in_line);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(points_in_line),
                       [](const SweepPoint& point) { return point.done(); });
  };
  while (lines_ < report.axes[0].values.size() && is_done(lines_)) {
    text += table.row(grid ? grid_cells(report, lines_) : line_cells(report.points[lines_]));
    ++lines_;
  }
  return lines_ == 0 ? "" : text;
}

std::string SweepText::end(const SweepReport& report) {
  const std::string last_lines = more(report);
  return last_lines + (lines_ == 0 ? "" : Table::foot()) +
         (report.axes.size() == 2 ? reasons_text(report) : "") + best_text(report);
}

std::string sweep_csv(const SweepReport& report) {
  std::vector<Json> lines;
  for (const SweepPoint& point : report.points) {
    Json& line = lines.emplace_back(Json::object());
    for (std::size_t i = 0; i < report.axes.size(); ++i) {
      line[report.axes[i].name] = point.at[i];
    }
    const bool ran = point.ran();
    line.update(
        {{"M", point.shape.m},
         {"N", point.shape.n},
         {"K", point.shape.k},
         {"gflops", ran ? Json(point.speed() / gigaflop) : Json(nullptr)},
         {"median_s", ran ? Json(point.row.samples.median()) : Json(nullptr)},
         {"spread", ran ? Json(point.row.samples.spread()) : Json(nullptr)},
         {"reference_gflops", point.reference > 0.0 ? Json(point.reference / gigaflop) : Json(nullptr)},
         {"status", status_of(point)}});
  }
  return csv(lines);
}

Json sweep_json(const SweepReport& report, const SweepRequest& request) {
  Json json = file_head("duogemm.sweep/1", request.cold, request.measure);
  json.update({{"device", to_json(report.device)},
               {"rung", label_of(*report.spec)},
               {"kernel", report.spec->name},
               {"peak_gflops", report.peak / gigaflop},
               {"reference", report.reference.empty() ? Json(nullptr) : Json(report.reference)},
               {"gpu_during", to_json(report.gpu_during)},
               {"warnings", report.warnings},
               {"axes", Json::array()},
               {"points", Json::array()}});
  for (const Axis& axis : report.axes) {
    json["axes"].push_back({{"name", axis.name}, {"values", axis.values}});
  }
  for (const SweepPoint& point : report.points) {
    json["points"].push_back(point_json(point));
  }
  return json;
}

}  // namespace duogemm::bench
