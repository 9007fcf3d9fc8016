#include "compare/compare_json.h"

#include "problem/precision.h"
#include "report/json_parts.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.compare/1";

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json other_json(const Other& other, const OtherTime& time, const std::optional<double>& ratio) {
  Json json = {{"title", other.title}};
  if (!time.unavailable.empty()) {
    json["unavailable"] = time.unavailable;
    return json;
  }
  json["error_per_bound"] = time.worst_error;
  json["ratio"] = optional(ratio);
  json["time"] = to_json(time.samples);
  return json;
}

Json row_json(const CompareReport& report, const CompareRow& row) {
  Json json = {{"list", row.list}, {"label", row.shape.label}};
  json.update(to_json(row.shape.problem));
  if (!row.skipped.empty()) {
    json["skipped"] = row.skipped;
    return json;
  }
  json["plan"] = row.plan;
  json["ok"] = row.ok();
  json["same_bits_again"] = row.repeatable;
  json["computed_anew"] = row.verdict.computed;
  json["error_per_bound"] = row.verdict.worst_error;
  json["different_bits"] = row.verdict.different_bits;
  json["not_finite"] = row.verdict.not_finite;
  json["overwritten"] = row.verdict.overwritten;
  json["gflops"] =
      row.ours.seconds.empty() ? Json(nullptr) : Json(row.shape.problem.flops() / row.ours.median() / 1e9);
  json["time"] = to_json(row.ours);
  json["others"] = Json::array();
  for (std::size_t i = 0; i < row.others.size(); ++i) {
    json["others"].push_back(other_json(report.others[i], row.others[i], row.ratio(i)));
  }
  return json;
}

Json summary_json(const CompareReport& report, const std::string& list) {
  Json json = Json::array();
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    const RatioSummary summary = summarize(report, i, list);
    const bool any = summary.shapes > 0;
    json.push_back({{"list", list.empty() ? Json(nullptr) : Json(list)},
                    {"title", report.others[i].title},
                    {"shapes", summary.shapes},
                    {"geometric_mean", any ? Json(summary.geometric_mean) : Json(nullptr)},
                    {"worst", any ? Json(summary.worst) : Json(nullptr)},
                    {"worst_label", summary.worst_label},
                    {"below_1", summary.below_1},
                    {"below_095", summary.below_095}});
  }
  return json;
}

Json report_json(const CompareReport& report, const std::vector<ShapeList>& lists, double wanted_noise) {
  Json json = {{"device", to_json(report.device)},
               {"gpu_before", to_json(report.gpu_before)},
               {"gpu_after", to_json(report.gpu_after)},
               {"gpu_during", to_json(report.gpu_during)},
               {"warnings", report.warnings(wanted_noise)},
               {"others", Json::array()},
               {"rows", Json::array()},
               {"summary", summary_json(report, "")}};
  for (const Other& other : report.others) {
    json["others"].push_back({{"title", other.title}, {"name", other.name}});
  }
  for (const CompareRow& row : report.rows) {
    json["rows"].push_back(row_json(report, row));
  }
  for (const ShapeList& list : lists) {
    for (const Json& summary : summary_json(report, list.name)) {
      json["summary"].push_back(summary);
    }
  }
  return json;
}

}  // namespace

std::string compare_json(const std::vector<CompareReport>& reports, const CompareRequest& request) {
  Json json = file_head(schema, request.conditions.cold, request.measure);
  json.update({{"graph", request.conditions.graph},
               {"level", request.level},
               {"precision", to_text(request.conditions.precision)},
               {"through", name_of(request.conditions.through)}});
  if (request.conditions.device_memory) {
    json["device_memory"] = *request.conditions.device_memory;
  }
  if (request.conditions.callers > 1) {
    json["callers"] = request.conditions.callers;
  }
  json["runs"] = Json::array();
  for (const CompareReport& report : reports) {
    json["runs"].push_back(report_json(report, request.lists, request.measure.noise));
  }
  return json.dump(1) + "\n";
}

}  // namespace duogemm::bench
