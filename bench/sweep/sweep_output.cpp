#include "sweep/sweep_output.h"

#include <algorithm>
#include <set>

#include "ladder/ladder_tables.h"
#include "report/json_parts.h"
#include "report/result_files.h"
#include "support/table.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.sweep/1";
constexpr double giga = 1e9;

std::string status_of(const SweepPoint& point) {
  return point.invalid.empty() ? status_text(point.row) : "not possible: " + point.invalid;
}

std::string speed_text(const SweepPoint& point) {
  if (!point.ran()) {
    return "-";
  }
  return point.row.check.exact() ? format("%.1f", point.speed() / giga) : "WRONG";
}

std::string line_text(const SweepReport& report) {
  Table table;
  table.add_column(report.axes[0].name);
  table.add_column("GFLOP/s");
  table.add_column("spread");
  table.add_column("of library");
  table.add_column("", Table::Align::left);
  for (const SweepPoint& point : report.points) {
    const bool ran = point.ran();
    table.add_row(
        {std::to_string(point.at[0]), speed_text(point),
         ran ? format("%.1f%%", 100.0 * point.row.samples.spread()) : "-",
         ran && point.reference > 0.0 ? format("%.1f%%", 100.0 * point.speed() / point.reference) : "-",
         status_of(point)});
  }
  return table.text();
}

std::string grid_text(const SweepReport& report) {
  const Axis& down = report.axes[0];
  const Axis& across = report.axes[1];
  Table table;
  table.add_column(down.name + " \\ " + across.name);
  for (const std::int64_t value : across.values) {
    table.add_column(std::to_string(value));
  }
  for (std::size_t i = 0; i < down.values.size(); ++i) {
    std::vector<std::string> cells = {std::to_string(down.values[i])};
    for (std::size_t j = 0; j < across.values.size(); ++j) {
      cells.push_back(speed_text(report.points[i * across.values.size() + j]));
    }
    table.add_row(std::move(cells));
  }
  std::set<std::string> reasons;
  for (const SweepPoint& point : report.points) {
    if (!point.ran() || !point.row.check.exact()) {
      reasons.insert(status_of(point));
    }
  }
  std::string text = table.text();
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
  return best ? "Fastest: " + place_text(report, *best) + format(", %.1f GFLOP/s\n", best->speed() / giga)
              : "";
}

Json point_json(const SweepPoint& point) {
  Json json = {{"at", point.at}, {"m", point.shape.m}, {"n", point.shape.n}, {"k", point.shape.k}};
  if (!point.invalid.empty()) {
    json["invalid"] = point.invalid;
    return json;
  }
  json["row"] = row_json(point.row, point.shape);
  json["reference_gflops"] = point.reference > 0.0 ? Json(point.reference / giga) : Json(nullptr);
  return json;
}

}  // namespace

std::string sweep_text(const SweepReport& report) {
  std::string text = report.spec->name + " on " + report.device.name + " through " + report.device.runtime +
                     (report.axes.size() == 2 ? ", GFLOP/s" : "") + "\n";
  text += report.axes.size() == 2 ? grid_text(report) : line_text(report);
  return text + best_text(report);
}

std::string sweep_csv(const SweepReport& report) {
  std::string text;
  for (const Axis& axis : report.axes) {
    text += axis.name + ",";
  }
  text += "M,N,K,gflops,median_s,spread,status\n";
  const auto number = [](double value) { return Json(value).dump(); };
  for (const SweepPoint& point : report.points) {
    for (const std::int64_t value : point.at) {
      text += std::to_string(value) + ",";
    }
    text += std::to_string(point.shape.m) + "," + std::to_string(point.shape.n) + "," +
            std::to_string(point.shape.k) + ",";
    text += point.ran() ? number(point.speed() / giga) + "," + number(point.row.samples.median()) + "," +
                              number(point.row.samples.spread())
                        : ",,";
    text += ",\"" + status_of(point) + "\"\n";
  }
  return text;
}

std::string sweep_json(const SweepReport& report, const SweepRequest& request) {
  Json json = file_head(schema, request.cold, request.measure);
  json.update({{"device", to_json(report.device)},
               {"rung", label_of(*report.spec)},
               {"kernel", report.spec->name},
               {"peak_gflops", report.peak / giga},
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
  return json.dump(1) + "\n";
}

}  // namespace duogemm::bench
