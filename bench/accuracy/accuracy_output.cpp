#include "accuracy/accuracy_output.h"

#include <set>

#include "problem/precision.h"
#include "report/json_parts.h"
#include "support/table.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.accuracy/1";

std::string figure(double units) {
  return format(units == 0.0 ? "%.0f" : units < 0.01 ? "%.0e" : units < 100.0 ? "%.2f" : "%.3g", units);
}

std::string cell(const Accuracy& accuracy) {
  if (!accuracy.unavailable.empty()) {
    return "-";
  }
  const std::string time = accuracy.seconds ? format(" %.4g us", *accuracy.seconds * 1e6) : "";
  return figure(accuracy.largest) + " (" + figure(accuracy.mean) + ")" + time;
}

Table table_of(const AccuracyReport& report) {
  Table table;
  table.add_column("input", Table::Align::left);
  table.add_column("K");
  table.add_column("bound");
  for (const Precision precision : report.precisions) {
    table.add_column(to_text(precision));
  }
  for (const AccuracyPeer& other : report.others) {
    table.add_column(other.title);
  }
  table.add_column("", Table::Align::left);
  for (const AccuracyRow& row : report.rows) {
    std::vector<std::string> cells = {row.input.name, std::to_string(row.k), format("%.1f", row.bound)};
    for (const auto* accuracies : {&row.ours, &row.others}) {
      for (const Accuracy& accuracy : *accuracies) {
        cells.push_back(cell(accuracy));
      }
    }
    cells.push_back(row.fault.empty() ? "ok" : "WRONG: " + row.fault);
    table.add_row(std::move(cells));
  }
  return table;
}

// The kernels that each precision ran, and each reason for which it, or another library, ran nothing.
std::string runs_text(const AccuracyReport& report) {
  std::string text;
  const auto tell = [&](const std::string& name, const std::set<std::string>& what) {
    std::string list;
    for (const std::string& one : what) {
      list += (list.empty() ? "" : ", ") + one;
    }
    text += list.empty() ? "" : name + list + "\n";
  };
  const auto tell_one = [&](const std::string& name, auto member, std::size_t i) {
    std::set<std::string> kernels, reasons;
    for (const AccuracyRow& row : report.rows) {
      const Accuracy& accuracy = (row.*member).at(i);
      (accuracy.unavailable.empty() ? kernels : reasons)
          .insert(accuracy.unavailable.empty() ? accuracy.kernel : accuracy.unavailable);
    }
    kernels.erase("");
    tell(name + " ran ", kernels);
    tell("no " + name + ": ", reasons);
  };
  for (std::size_t i = 0; i < report.precisions.size(); ++i) {
    tell_one(to_text(report.precisions[i]), &AccuracyRow::ours, i);
  }
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    tell_one(report.others[i].title, &AccuracyRow::others, i);
  }
  return text;
}

Json error_json(const std::string& title, const Accuracy& accuracy) {
  Json json = {{"title", title}};
  if (!accuracy.unavailable.empty()) {
    json["unavailable"] = accuracy.unavailable;
    return json;
  }
  if (!accuracy.kernel.empty()) {
    json["kernel"] = accuracy.kernel;
  }
  json["largest"] = accuracy.largest;  // JSON has no infinity: this becomes null
  json["mean"] = accuracy.mean;
  if (accuracy.seconds) {
    json["seconds"] = *accuracy.seconds;
  }
  return json;
}

Json row_json(const AccuracyReport& report, const AccuracyRow& row) {
  Json json = {{"input", row.input.name},
               {"about", row.input.about},
               {"k", row.k},
               {"elements", row.elements},
               {"bound", row.bound},
               {"ok", row.fault.empty()},
               {"fault", row.fault.empty() ? Json(nullptr) : Json(row.fault)},
               {"errors", Json::array()}};
  for (std::size_t i = 0; i < row.ours.size(); ++i) {
    json["errors"].push_back(error_json(to_text(report.precisions[i]), row.ours[i]));
  }
  for (std::size_t i = 0; i < row.others.size(); ++i) {
    json["errors"].push_back(error_json(report.others[i].title, row.others[i]));
  }
  return json;
}

}  // namespace

std::string accuracy_text(const AccuracyReport& report) {
  const std::string size = std::to_string(report.size);
  std::string text = report.device.name + " through " + report.device.runtime + ", M=N=" + size + "\n";
  for (const AccuracyPeer& other : report.others) {
    text += (&other == &report.others.front() ? "beside " : ", ") + other.name;
  }
  text += report.others.empty() ? "" : "\n";
  text +=
      "|C - C64| / (2^-24 |A||B|): the largest, and in brackets the mean; with --time, how long a product "
      "takes\n";
  text += table_of(report).text() + runs_text(report);
  text += "ok: at most the bound, 2 sqrt(K) + 4, or what FP32 has there, K + 3 at most; integers exact;\n";
  text += "and, beside cuBLAS, bf16x6 and f16x3 from K=" + std::to_string(least_compared_k) + " on at most " +
          format("%g", worst_ratio) + " times its error or " + format("%g", always_good) + "\n";
  return text;
}

std::string accuracy_json(const AccuracyReport& report) {
  Json json = dated_head(schema);
  json.update({{"device", to_json(report.device)},
               {"m", report.size},
               {"n", report.size},
               {"precisions", Json::array()},
               {"others", Json::array()},
               {"ok", report.ok()},
               {"rows", Json::array()}});
  for (const Precision precision : report.precisions) {
    json["precisions"].push_back(to_text(precision));
  }
  for (const AccuracyPeer& other : report.others) {
    json["others"].push_back({{"title", other.title}, {"name", other.name}});
  }
  for (const AccuracyRow& row : report.rows) {
    json["rows"].push_back(row_json(report, row));
  }
  return json.dump(1) + "\n";
}

}  // namespace duogemm::bench
