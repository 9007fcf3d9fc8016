#include "compare/compare_report.h"

#include <algorithm>
#include <cmath>

#include "timing/timing_warnings.h"

namespace duogemm::bench {

std::optional<double> CompareRow::ratio(std::size_t i) const {
  if (ours.seconds.empty() || others.at(i).samples.seconds.empty()) {
    return std::nullopt;
  }
  return others[i].samples.median() / ours.median();
}

namespace {

// So many times as long as ours the other one took at most.
double slowest(const CompareReport& report, std::size_t other) {
  double times = 0.0;
  for (const CompareRow& row : report.rows) {
    if (row.skipped.empty()) {
      times = std::max(times, row.ratio(other).value_or(0.0));
    }
  }
  return times;
}

}  // namespace

std::vector<std::string> CompareReport::warnings(double wanted_noise) const {
  std::vector<NamedSamples> samples;
  for (const CompareRow& row : rows) {
    samples.push_back({row.shape.label, &row.ours});
    for (std::size_t i = 0; i < row.others.size(); ++i) {
      samples.push_back({row.shape.label + " by " + others[i].title, &row.others[i].samples});
    }
  }
  std::vector<std::string> warnings = timing_warnings(gpu_during, samples, wanted_noise);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (const auto slow = slow_reference_warning(others[i].title, slowest(*this, i), "duogemm")) {
      warnings.push_back(*slow);
    }
  }
  if (interrupted) {
    warnings.emplace_back("the run was interrupted: shapes are missing");
  }
  return warnings;
}

bool CompareReport::ok() const {
  return std::all_of(rows.begin(), rows.end(), [](const CompareRow& row) { return row.ok(); });
}

RatioSummary summarize(const CompareReport& report, std::size_t other, const std::string& list) {
  RatioSummary summary;
  double logarithms = 0.0;
  for (const CompareRow& row : report.rows) {
    if ((!list.empty() && row.list != list) || !row.skipped.empty()) {
      continue;
    }
    const std::optional<double> ratio = row.ratio(other);
    if (!ratio) {
      continue;
    }
    if (++summary.shapes == 1 || *ratio < summary.worst) {
      summary.worst = *ratio;
      summary.worst_label = row.list + "/" + row.shape.label;
    }
    logarithms += std::log(*ratio);
    summary.below_1 += *ratio < 1.0;
    summary.below_095 += *ratio < 0.95;
  }
  summary.geometric_mean =
      std::exp(logarithms / static_cast<double>(std::max<std::size_t>(summary.shapes, 1)));
  return summary;
}

}  // namespace duogemm::bench
