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

// One report per device, the rows of each in the same order. With CUDA and then OpenCL, contenders of both
// take turns in the same loop, and OpenCL's report has ours through CUDA as its last other contender.
// after_list: is called with what there is whenever a list is done.
std::vector<CompareReport> run_compare(const CompareRequest& request, Progress& progress,
                                       const std::function<void(const std::vector<CompareReport>& reports,
                                                                const std::string& list)>& after_list);

}  // namespace duogemm::bench
