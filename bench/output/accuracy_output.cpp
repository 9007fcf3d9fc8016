#include "output/accuracy_output.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "output/table.h"
#include "problem/precision.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.accuracy/1";

std::string figure(double units) {
  return format(units == 0.0 ? "%.0f" : units < 0.01 ? "%.0e" : units < 100.0 ? "%.2f" : "%.3g", units);
}

std::string cell(const Row& row) {
  if (!row.missing.empty()) {
    return "-";
  }
  const std::string time = row.samples.seconds.empty() ? "" : format(" %.4g us", row.samples.median() * 1e6);
  return figure(row.verdict.worst_error) + " (" + figure(row.mean_error.value_or(0.0)) + ")" + time;
}

// Names all contenders, ours first.
std::vector<std::string> titles_of(const AccuracyReport& report) {
  std::vector<std::string> titles;
  for (const Precision precision : report.precisions) {
    titles.emplace_back(to_text(precision));
  }
  std::ranges::transform(report.others, std::back_inserter(titles), &Peer::title);
  return titles;
}

Table table_of(const AccuracyReport& report) {
  Table table = {left("input"), "K", "bound"};
  for (const std::string& title : titles_of(report)) {
    table.add_column(title);
  }
  table.add_column(left(""));
  for (const AccuracyRow& row : report.rows) {
    std::vector<std::string> cells = {row.input.name, std::to_string(row.k), format("%.1f", row.bound)};
    std::ranges::transform(row.rows, std::back_inserter(cells), cell);
    cells.push_back(row.fault.empty() ? "ok" : "WRONG: " + row.fault);
    table.add_row(std::move(cells));
  }
  return table;
}

// The kernels that each precision ran, and each reason for which it, or another library, ran nothing.
std::string runs_text(const AccuracyReport& report) {
  std::string text;
  const auto tell = [&](const std::string& name, const std::set<std::string>& what) {
    text += what.empty() ? "" : name + join(what) + "\n";
  };
  const std::vector<std::string> titles = titles_of(report);
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::set<std::string> kernels, reasons;
    for (const AccuracyRow& row : report.rows) {
      const Row& one = row.rows.at(i);
      if (!one.missing.empty()) {
        reasons.insert(one.missing);
      } else if (one.setting.spec) {
        kernels.insert(one.setting.spec->name);
      }
    }
    tell(titles[i] + " ran ", kernels);
    tell("no " + titles[i] + ": ", reasons);
  }
  return text;
}

Json error_json(const std::string& title, const Row& row) {
  Json json = {{"title", title}};
  if (!row.missing.empty()) {
    json["unavailable"] = row.missing;
    return json;
  }
  if (row.setting.spec) {
    json["kernel"] = row.setting.spec->name;
  }
  json["largest"] = row.verdict.worst_error;  // JSON has no infinity: this becomes null
  json["mean"] = row.mean_error.value_or(0.0);
  if (!row.samples.seconds.empty()) {
    json["seconds"] = row.samples.median();
  }
  return json;
}

Json row_json(const std::vector<std::string>& titles, const AccuracyRow& row) {
  Json json = {{"input", row.input.name},
               {"about", row.input.about},
               {"k", row.k},
               {"elements", row.elements},
               {"bound", row.bound},
               {"ok", row.fault.empty()},
               {"fault", row.fault.empty() ? Json(nullptr) : Json(row.fault)},
               {"errors", Json::array()}};
  for (std::size_t i = 0; i < titles.size(); ++i) {
    json["errors"].push_back(error_json(titles[i], row.rows.at(i)));
  }
  return json;
}

}  // namespace

std::string accuracy_text(const AccuracyReport& report) {
  const std::string size = std::to_string(report.size);
  std::string text = report.device.name + " through " + report.device.runtime + ", M=N=" + size + "\n";
  text += report.others.empty() ? "" : "versus " + join(report.others, ", ", &Peer::name) + "\n";
  text +=
      "|C - C64| / (2^-24 |A||B|): the largest, and in brackets the mean; with --time, how long a product "
      "takes\n";
  text += table_of(report).text() + runs_text(report);
  text += "ok: at most the bound, 2 sqrt(K) + 4, or what FP32 has there, K + 3 at most; integers exact;\n";
  text += "and, where there is cuBLAS, bf16x6 and f16x3 from K=" + std::to_string(least_compared_k) +
          " on at most " + format("%g", worst_ratio) + " times its error or " + format("%g", always_good) +
          "\n";
  return text;
}

Json accuracy_json(const AccuracyReport& report) {
  Json json = dated_head(schema);
  json.update({{"device", to_json(report.device)},
               {"m", report.size},
               {"n", report.size},
               {"precisions", Json::array()},
               {"others", to_json(report.others)},
               {"ok", report.ok()},
               {"rows", Json::array()}});
  for (const Precision precision : report.precisions) {
    json["precisions"].push_back(to_text(precision));
  }
  for (const AccuracyRow& row : report.rows) {
    json["rows"].push_back(row_json(titles_of(report), row));
  }
  return json;
}

}  // namespace duogemm::bench
