// What a comparison finds out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/verdict.h"
#include "device/device_info.h"
#include "machine/gpu_watch.h"
#include "references/own_library.h"
#include "support/shapes.h"
#include "timing/measure.h"

namespace duogemm::bench {

// What another contender did with a shape.
struct OtherTime {
  std::string unavailable;  // why it has no time; nothing below is there then
  Samples samples;
  double worst_error = 0.0;  // in units of the bound
};

struct CompareRow {
  std::string list;
  NamedShape shape;
  std::string skipped;  // why the shape was not run; nothing below is there then
  std::string plan;     // what ours does, in words
  Verdict verdict;
  bool repeatable = false;  // a second run gave the same bits
  Samples ours;             // empty when the result is wrong
  std::vector<OtherTime> others;

  bool ok() const { return !skipped.empty() || (verdict.ok() && repeatable); }
  // How many times as fast as other i we are; empty when one of the two has no time.
  std::optional<double> ratio(std::size_t i) const;
};

// Another contender: a library, or, in the report of OpenCL, ourselves through CUDA.
struct Other {
  std::string title;  // "cuBLAS"
  std::string name;   // "cuBLAS 13.1.0"
};

struct CompareReport {
  DeviceInfo device;
  Through through = Through::device;
  std::optional<std::size_t> device_memory;
  std::size_t callers = 1;
  Precision precision = Precision::fp32;
  std::vector<Other> others;
  std::optional<GpuState> gpu_before;
  std::optional<GpuState> gpu_after;  // right after the last sample
  std::vector<GpuMoment> gpu_during;
  std::vector<CompareRow> rows;
  bool interrupted = false;  // before all shapes were there

  bool ok() const;
  // See timing_warnings.h.
  std::vector<std::string> warnings(double wanted_noise) const;
};

// The ratios to one other contender, over some shapes.
struct RatioSummary {
  std::size_t shapes = 0;  // those that have a ratio; nothing below means anything without one
  double geometric_mean = 0.0;
  double worst = 0.0;
  std::string worst_label;
  std::size_t below_1 = 0;  // shapes
  std::size_t below_095 = 0;
};

// Over the rows of a list, or over all when the name is empty.
RatioSummary summarize(const CompareReport& report, std::size_t other, const std::string& list);

}  // namespace duogemm::bench
