#include "compare/compare_tables.h"

#include <algorithm>

#include "problem/precision.h"

namespace duogemm::bench {
namespace {

std::string microseconds(const Samples& samples) {
  const double value = 1e6 * samples.median();
  return format(value < 100.0 ? "%.2f" : value < 10000.0 ? "%.1f" : "%.0f", value);
}

std::string status(const CompareReport& report, const CompareRow& row) {
  if (!row.skipped.empty()) {
    return "skipped: " + row.skipped;
  }
  if (!row.verdict.ok()) {
    return "WRONG: " + row.verdict.first_fault;
  }
  if (!row.repeatable) {
    return "WRONG: a second run gave other bits";
  }
  std::string text = "ok";
  for (std::size_t i = 0; i < row.others.size(); ++i) {
    if (!row.others[i].unavailable.empty()) {
      text += "; no " + report.others[i].title + ": " + row.others[i].unavailable;
    } else if (row.others[i].worst_error > 1.0) {
      text += "; " + report.others[i].title + format(" is wrong by %.3g bounds", row.others[i].worst_error);
    }
  }
  return text;
}

std::vector<std::string> cells(const CompareReport& report, const CompareRow& row) {
  const Problem& p = row.shape.problem;
  const bool timed = !row.ours.seconds.empty();
  std::vector<std::string> cells = {row.shape.label,
                                    std::to_string(p.m),
                                    std::to_string(p.n),
                                    std::to_string(p.k),
                                    ops_of(p),
                                    p.batch == 1 ? "-" : std::to_string(p.batch),
                                    timed ? microseconds(row.ours) : "-",
                                    timed ? format("%.1f", 1e-9 * p.flops() / row.ours.median()) : "-"};
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    const bool both = row.skipped.empty() && row.ratio(i).has_value();
    cells.push_back(both ? microseconds(row.others[i].samples) : "-");
    cells.push_back(both ? format("%.3f", *row.ratio(i)) : "-");
  }
  cells.push_back(status(report, row));
  return cells;
}

constexpr std::ptrdiff_t first_figure = 6;  // columns before it are known of a shape

Table empty_table(const CompareReport& report, const std::string& list) {
  Table table;
  table.add_column(list, Table::Align::left);
  for (const char* title : {"M", "N", "K", "ops", "batch", "us", "GFLOP/s"}) {
    table.add_column(title);
  }
  for (const Other& other : report.others) {
    table.add_column(other.title + " us");
    table.add_column("ratio");
  }
  table.add_column("", Table::Align::left);
  return table;
}

void add_summary(Table& table, const CompareReport& report, const std::string& list) {
  for (std::size_t i = 0; i < report.others.size(); ++i) {
    const RatioSummary summary = summarize(report, i, list);
    const bool any = summary.shapes > 0;
    table.add_row({list.empty() ? "all" : list, report.others[i].title, std::to_string(summary.shapes),
                   any ? format("%.3f", summary.geometric_mean) : "-",
                   any ? format("%.3f", summary.worst) : "-", std::to_string(summary.below_1),
                   std::to_string(summary.below_095), any ? summary.worst_label : ""});
  }
}

Table summary_table() {
  Table table;
  table.add_column("list", Table::Align::left);
  table.add_column("ratio to", Table::Align::left);
  for (const char* title : {"shapes", "mean", "worst", "< 1", "< 0.95"}) {
    table.add_column(title);
  }
  table.add_column("the worst", Table::Align::left);
  return table;
}

}  // namespace

std::string head_text(const CompareReport& report) {
  std::string text = report.device.name + " through " + report.device.runtime + ", driver " +
                     (report.gpu_before ? report.gpu_before->driver : report.device.driver) + "\n";
  text += report.through == Through::host   ? "called on plain arrays\n"
          : report.through == Through::blas ? "called on plain arrays through libduogemm_blas\n"
                                            : "";
  if (report.device_memory) {
    text += "with at most " + std::to_string(*report.device_memory) + " bytes of device memory\n";
  }
  if (report.callers > 1) {
    text += "by " + std::to_string(report.callers) + " threads at once\n";
  }
  text += report.precision == Precision::fp32
              ? ""
              : std::string("products may be computed by ") + to_text(report.precision) + "\n";
  for (const Other& other : report.others) {
    text += (&other == &report.others.front() ? "beside " : ", ") + other.name;
  }
  return text + (report.others.empty() ? "beside nobody\n" : "\n");
}

std::string list_text(const CompareReport& report, const std::string& list) {
  Table table = empty_table(report, list);
  for (const CompareRow& row : report.rows) {
    if (row.list == list) {
      table.add_row(cells(report, row));
    }
  }
  return table.text();
}

ListTable::ListTable(const CompareReport& report, const ShapeList& list)
    : table_(empty_table(report, list.name)) {
  for (const NamedShape& shape : list.shapes) {
    CompareRow row;
    row.shape = shape;
    row.skipped = "not yet";
    std::vector<std::string> widest = cells(report, row);
    std::fill(widest.begin() + first_figure, widest.end() - 1, "100000.0");
    widest.back().clear();
    table_.add_row(std::move(widest));
  }
}

std::string ListTable::row(const CompareReport& report, const CompareRow& row) const {
  return table_.row(cells(report, row));
}

std::string summary_text(const CompareReport& report) {
  if (report.others.empty()) {
    return {};
  }
  Table table = summary_table();
  std::string last;
  std::size_t lists = 0;
  for (const CompareRow& row : report.rows) {
    if (row.list != last) {
      add_summary(table, report, row.list);
      last = row.list;
      ++lists;
    }
  }
  if (lists > 1) {
    add_summary(table, report, "");
  }
  return table.text();
}

}  // namespace duogemm::bench
