#include <algorithm>
#include <iterator>
#include <set>

#include "output/reports.h"
#include "problem/precision.h"

namespace duogemm::bench {
namespace {

std::string cell(const Row& row) {
  if (!row.missing.empty()) {
    return "-";
  }
  const auto figure = [](double units) {
    return format(units == 0.0 ? "%.0f" : units < 0.01 ? "%.0e" : units < 100.0 ? "%.2f" : "%.3g", units);
  };
  const std::string time = row.samples.seconds.empty() ? "" : format(" %.4g us", row.samples.median() * 1e6);
  return figure(row.verdict.worst_error) + " (" + figure(row.mean_error.value_or(0.0)) + ")" + time;
}

// Names all contenders, ours first.
std::vector<std::string> titles_of(const AccuracyReport& report) {
  std::vector<std::string> titles(report.precisions.size());
  std::ranges::transform(report.precisions, titles.begin(), [](Precision each) { return to_text(each); });
  std::ranges::transform(report.others, std::back_inserter(titles), &Peer::title);
  return titles;
}

Columns<AccuracyRow> columns_of(const AccuracyReport& report) {
  Columns<AccuracyRow> columns = {
      {left("input"), [](const AccuracyRow& row) { return row.input.name; }},
      {"K", [](const AccuracyRow& row) { return std::to_string(row.k); }},
      {"bound", [](const AccuracyRow& row) { return format("%.1f", row.bound); }}};
  for (std::size_t i = 0; const std::string& title : titles_of(report)) {
    columns.emplace_back(title, [i](const AccuracyRow& row) { return cell(row.rows.at(i)); });
    ++i;
  }
  columns.emplace_back(
      left(""), [](const AccuracyRow& row) { return row.fault.empty() ? "ok" : "WRONG: " + row.fault; });
  return columns;
}

// The kernels that each precision ran, and each reason for which it, or another library, ran nothing.
std::string runs_text(const AccuracyReport& report) {
  std::string text;
  const auto tell = [&](const std::string& name, const std::set<std::string>& what) {
    text += what.empty() ? "" : filled(name + join(what));
  };
  for (std::size_t i = 0; const std::string& title : titles_of(report)) {
    std::set<std::string> kernels, reasons;
    for (const AccuracyRow& row : report.rows) {
      const Row& one = row.rows.at(i);
      if (!one.missing.empty()) {
        reasons.insert(one.missing);
      } else if (one.setting.spec) {
        kernels.insert(one.setting.spec->name);
      }
    }
    tell(title + " ran ", kernels);
    tell("no " + title + ": ", reasons);
    ++i;
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
  return {{"input", row.input.name},
          {"about", row.input.about},
          {"k", row.k},
          {"elements", row.elements},
          {"bound", row.bound},
          {"ok", row.fault.empty()},
          {"fault", or_null(row.fault)},
          {"errors",
           list_of(titles.size(), [&](std::size_t i) { return error_json(titles[i], row.rows.at(i)); })}};
}

}  // namespace

std::string accuracy_text(const AccuracyReport& report) {
  const std::string size = std::to_string(report.size);
  std::string text = filled(report.device.name + " through " + report.device.runtime + ", M=N=" + size);
  text += report.others.empty() ? "" : filled("versus " + join(report.others, ", ", &Peer::name));
  text += filled(
      "|C - C64| / (2^-24 |A||B|): the largest, and in brackets the mean; with --time, how long a product "
      "takes");
  text += table_of(columns_of(report), report.rows).text() + runs_text(report);
  text += filled(
      "ok: at most the bound, 2 sqrt(K) + 4, or what FP32 has there, K + 3 at most; integers exact; and, "
      "where "
      "there is cuBLAS, bf16x6 and f16x3 from K=" +
      std::to_string(least_compared_k) + " on at most " + format("%g", worst_ratio) + " times its error or " +
      format("%g", always_good));
  return text;
}

Json accuracy_json(const AccuracyReport& report) {
  const std::vector<std::string> titles = titles_of(report);
  Json json = dated_head("duogemm.accuracy/1");
  json.update(
      {{"device", to_json(report.device)},
       {"m", report.size},
       {"n", report.size},
       {"precisions", list_of(report.precisions, [](Precision each) { return to_text(each); })},
       {"others", to_json(report.others)},
       {"ok", report.ok()},
       {"rows", list_of(report.rows, [&](const AccuracyRow& row) { return row_json(titles, row); })}});
  return json;
}

}  // namespace duogemm::bench
