// A comparison: this library versus others on lists of shapes, one shape after the other, on each everybody
// in turns.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/run.h"
#include "support/progress.h"

namespace duogemm::bench {

struct CompareConditions : Conditions {
  Through through = Through::device;
  std::optional<std::size_t> device_memory = {};  // the limit for ours on plain arrays, in bytes
  // Ours may compute with it. With another than fp32, libraries take part in other precisions too.
  Precision precision = Precision::fp32;
  std::vector<std::string> kernels = {};  // folders, with whose kernels ours takes part once more
  std::optional<std::vector<std::string>> against = {};  // titles of libraries; all when not given
};

// Ours and the libraries there are for the device.
Session& add_compare_session(Sessions& sessions, const ChosenDevice& chosen,
                             const CompareConditions& conditions);

struct CompareRequest {
  std::vector<ShapeList> lists = {};
  std::vector<ChosenDevice> devices = {};
  CompareConditions conditions = {};
  std::string level = {};  // of reproducibility, as --level has it
  MeasureOptions measure = {};
};

struct CompareReport : Machine {
  CompareConditions conditions = {};
  std::vector<Peer> others = {};  // in the order of their rows, which follow ours
  std::vector<ProblemRows> problems = {};
  bool interrupted = false;  // before all shapes were there

  bool ok() const;
  // See timing_warnings.h.
  std::vector<std::string> warnings(double wanted_noise) const;
};

// Ours was right, or not run.
bool is_ok(const ProblemRows& problem);

// Says how many times as fast as the other ours is.
std::optional<double> ratio(const ProblemRows& problem, std::size_t other);

// Over the shapes of a list, or over all when the name is empty.
Ratios summarize(const CompareReport& report, std::size_t other, const std::string& list);

// Is told what there is.
struct CompareListener {
  using Call = std::function<void(const std::vector<CompareReport>& reports, const ShapeList& list)>;
  Call after_shape;
  Call after_list;  // also where that was interrupted
};

// One report per device, the shapes of each in the same order. With CUDA and then OpenCL, contenders of both
// take turns in the same loop, and OpenCL's report has ours through CUDA as its last other contender.
// A run that is interrupted ends with the shapes that were done.
std::vector<CompareReport> run_compare(const CompareRequest& request, Progress& progress,
                                       const CompareListener& listener);

}  // namespace duogemm::bench
