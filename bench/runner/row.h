// A run finds out a row for each contender on each problem.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "check/oracle.h"
#include "device/device_info.h"
#include "ladder/ladder.h"
#include "machine/gpu_watch.h"
#include "support/shapes.h"
#include "timing/measure.h"

namespace duogemm::bench {

// One contender has multiplied a problem: a kernel with a setting, this library, or another.
struct Row {
  std::string title = {};                  // "8", "duogemm", "cuBLAS"
  std::string name = {};                   // of a library with its version: "cuBLAS 13.1.0"
  LadderSetting setting = {};              // of a kernel; other libraries have none
  std::string missing = {};                // why it has no result; nothing below is there then
  bool is_broken = false;                  // it is missing because the compiler refuses it
  std::string plan = {};                   // of this library: what it does, in words
  std::vector<std::string> launched = {};  // kernels, in order
  std::size_t support_steps = 0;           // launches besides the multiplication: padding, transposing
  double flops_per_byte = 0.0;             // of what a work-group gets from beyond it (see ladder/ladder.h)
  bool is_chain = true;                    // it owes the bits of one fma chain in ascending k
  Verdict verdict = {};                    // of a sampled result, of what was sampled
  bool repeatable = true;                  // a second run, where there was one, gave the same bits
  std::optional<double> mean_error = {};   // where errors are measured: the mean, verdict has the worst
  Samples samples = {};                    // of everything, support included; empty where it was not timed
  Samples multiply = {};                   // of the multiplication alone; empty without support steps
  std::vector<Samples> first_steps = {};   // of the first step, the first two, and so on, where asked for

  bool right() const { return is_chain ? verdict.exact() : verdict.ok(); }
  // Without all samples, the device cannot run it, or the run was interrupted.
  bool measured() const {
    return !samples.seconds.empty() && (support_steps == 0 || !multiply.seconds.empty());
  }
};

// Says how many times as fast one contender is as another; nothing where one of the two has no time.
inline std::optional<double> ratio(const Row& one, const Row& other) {
  const bool both = !one.samples.seconds.empty() && !other.samples.seconds.empty();
  return both ? std::optional(other.samples.median() / one.samples.median()) : std::nullopt;
}

// All rows of a problem. This library's, where it takes part, is the first.
struct ProblemRows {
  std::string list = {};  // of shapes, that the problem is of
  NamedShape shape = {};
  std::string skipped = {};  // why the problem was not run; there are no results then
  std::vector<Row> rows = {};
};

// Another library than this one, or this one called in another way.
struct Peer {
  std::string title;  // "cuBLAS"
  std::string name;   // "cuBLAS 13.1.0"
};

// The device of a run, and what was seen of it.
struct Machine {
  DeviceInfo device = {};
  std::optional<GpuState> gpu_before = {};
  std::optional<GpuState> gpu_after = {};  // right after the last sample
  std::vector<GpuMoment> gpu_during = {};  // while contenders were timed
};

// The ratios of one contender to another, over several problems.
struct Ratios {
  std::size_t count = 0;
  double worst = 1.0;  // of no ratio at all, too
  std::string worst_label = {};
  std::size_t below_1 = 0;
  std::size_t below_095 = 0;
  double logarithms = 0.0;  // of all, added up

  void add(const std::string& label, double ratio) {
    if (++count == 1 || ratio < worst) {
      worst = ratio;
      worst_label = label;
    }
    logarithms += std::log(ratio);
    below_1 += ratio < 1.0;
    below_095 += ratio < 0.95;
  }
  // Geometric; 1 of no ratio.
  double mean() const { return count == 0 ? 1.0 : std::exp(logarithms / static_cast<double>(count)); }
};

}  // namespace duogemm::bench
