// One kernel over ranges of tunables and sizes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/ladder_run.h"

namespace duogemm::bench {

struct Axis {
  std::string name;  // a tunable, or m, n, k or size
  std::vector<std::int64_t> values;

  bool is_size() const;
};

// "WPTM=2:8:x2" (2, 4, 8), "size=256:1024:256", "TSK=8:16" (steps of 1) or "TSM=32,64,128". Throws
// invalid_argument saying what is wrong; an axis has at most 1000 values.
Axis parse_axis(const std::string& text);

struct SweepRequest {
  std::string kernel;  // a rung or a name
  Tunables set;        // at every point
  Tunables switches;
  Shape shape;             // where no axis says otherwise
  std::vector<Axis> axes;  // one or two
  ChosenDevice device;
  MeasureOptions measure;
  bool cold = false;
};

struct SweepPoint {
  std::vector<std::int64_t> at;  // a value for each axis
  Shape shape;
  std::string invalid;  // why there is no such setting; the row then is nothing
  Row row;
  double reference = 0.0;  // the library's FLOP/s on this shape; 0 without one

  // Nothing more will come of it then.
  bool done() const { return !invalid.empty() || !row.missing.empty() || row.measured(); }
  bool ran() const { return invalid.empty() && row.missing.empty(); }
  // FLOP/s; only of one that ran.
  double speed() const;
};

struct SweepReport {
  DeviceInfo device;
  const KernelSpec* spec;
  std::vector<Axis> axes;
  double peak = 0.0;               // FLOP/s, measured
  std::string reference;           // the library's name; empty without one
  std::vector<SweepPoint> points;  // the last axis fastest
  std::vector<GpuMoment> gpu_during;
  std::vector<std::string> warnings;

  bool ok() const;
};

// Called whenever the points of one more shape are there.
using AfterShape = std::function<void(const SweepReport&)>;

// The points of one shape take turns in one loop. Throws invalid_argument for an unknown kernel or tunable,
// axes of the same thing, more than 10000 points, and when no point is possible at all.
// Points that an interrupted sweep did not come to are invalid.
SweepReport run_sweep(const SweepRequest& request, Progress& progress, const AfterShape& after_shape);

}  // namespace duogemm::bench
