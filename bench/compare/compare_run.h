// Runs a comparison: one shape after the other, on each everybody in turns.
#pragma once

#include <functional>
#include <vector>

#include "compare/arena.h"
#include "compare/compare_report.h"
#include "support/progress.h"

namespace duogemm::bench {

struct CompareRequest {
  std::vector<ShapeList> lists;
  std::vector<ChosenDevice> devices;
  Conditions conditions;
  std::string level;  // of reproducibility, as --level has it
  MeasureOptions measure;
};

// Is told what there is.
struct CompareListener {
  using Call = std::function<void(const std::vector<CompareReport>& reports, const ShapeList& list)>;
  Call after_shape;
  Call after_list;  // also where that was interrupted
};

// One report per device, the rows of each in the same order. With CUDA and then OpenCL, contenders of both
// take turns in the same loop, and OpenCL's report has ours through CUDA as its last other contender.
// A run that is interrupted ends with the shapes that were done.
std::vector<CompareReport> run_compare(const CompareRequest& request, Progress& progress,
                                       const CompareListener& listener);

}  // namespace duogemm::bench
