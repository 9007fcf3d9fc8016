// What a ladder, a sweep, a comparison and a measurement of errors ask of the one run, and what they find.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/inputs.h"
#include "runner/run.h"
#include "support/progress.h"
#include "timing/device_speed.h"

namespace duogemm::bench {

// "register_wide WIDTH=8": with what is not the kernel file's own.
std::string name_of(const LadderSetting& setting);

struct LadderReport : Machine {
  Shape shape = {};
  double peak = 0.0;  // FLOP/s, measured
  Bandwidth bandwidth = {};
  std::vector<Row> rows;  // of the settings
  bool fuses = true;      // see Session
  Row reference;          // of the other library; without a name where there is none
  std::string busy;       // what was to be said of the machine before the run; see timing_warnings.h
  bool interrupted = false;
  std::size_t unmeasured = 0;  // rows that an interrupted run did not come to

  bool ok() const;
  // Leaves out what was not measured before the run was interrupted.
  void keep_measured();
  // See timing_warnings.h.
  std::vector<std::string> warnings(double wanted_noise) const;
};

struct LadderRequest {
  std::vector<LadderSetting> settings;
  std::vector<ChosenDevice> devices;
  DeviceOptions device_options;
  std::optional<Shape> shape;  // chosen to take about a minute when not given
  MeasureOptions measure;
  bool cold = false;       // operands come from memory, not from a cache
  bool abilities = true;   // whether to measure what the device can do: its peak and bandwidth
  bool each_step = false;  // whether to time the first steps of a plan without the later ones
};

// The fastest of the rows that are measured, and `counts` says so of; null where there is none.
const Row* fastest_of(const std::vector<Row>& rows, const std::function<bool(const Row&)>& counts);

// One report per device; contenders of all devices take turns in the same loop. Where `measure.stop` becomes
// true, rows may be without samples, and without a shape that was asked for there may be no report.
// Throws out_of_memory, naming the shape and what there is, before anything is allocated.
std::vector<LadderReport> run_ladder(const LadderRequest& request, Progress& progress);

// Throws so where there is not the memory.
void require_ladder_memory(const LadderRequest& request, const Shape& shape);

struct Axis {
  std::string name;  // a tunable, or m, n, k or size
  std::vector<std::int64_t> values;

  bool is_size() const;
};

// "WPTM=2:8:x2" (2, 4, 8), "size=256:1024:256", "TSK=8:16" (steps of 1) or "TSM=32,64,128". Throws
// invalid_argument saying what is wrong; an axis has at most 1000 values.
Axis parse_axis(const std::string& text);

// Points are settings of one kernel. The shape is that where no axis says otherwise.
struct SweepRequest : LadderRequest {
  std::string kernel;  // a rung or a name
  Tunables set;        // at every point
  Tunables switches;
  std::vector<Axis> axes;  // one or two
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

struct AccuracyRequest {
  ChosenDevice device;
  std::vector<Precision> precisions;
  std::vector<InputClass> inputs;
  std::vector<std::int64_t> ks;
  std::int64_t size;   // M and N
  bool timed = false;  // how long each product takes is measured, too
};

// A kind of input at a length of sums. In its rows, errors are |C - C64| / (2^-24 |A||B|) over the elements
// that were computed anew; infinite where one is not finite.
struct AccuracyRow {
  InputClass input;
  std::int64_t k;
  std::size_t elements;        // computed anew
  double bound;                // 2 sqrt(k) + 4
  std::vector<Row> rows = {};  // ours in each precision, and then each other library
  std::string fault = {};      // what is wrong with ours; empty when nothing is
};

struct AccuracyReport {
  DeviceInfo device;
  std::int64_t size = 0;
  std::vector<Precision> precisions;
  std::vector<Peer> others = {};
  std::vector<AccuracyRow> rows = {};

  bool ok() const;
};

// From this many products on, other precisions than fp32 must come close to cuBLAS's FP32: to its error times
// `worst_ratio`, or to `always_good`, whichever is larger.
inline constexpr std::int64_t least_compared_k = 64;
inline constexpr double worst_ratio = 1.25;
inline constexpr double always_good = 3.0;

// Says what is wrong with a row whose errors are known.
std::string fault_of(const AccuracyRow& row, const std::vector<Precision>& precisions);

// Calls `after_row` when a row is there. A run that is interrupted ends with the rows that were done. Throws
// out_of_memory before it begins where the largest product does not fit.
AccuracyReport run_accuracy(const AccuracyRequest& request, Progress& progress,
                            const std::function<void(const AccuracyReport&)>& after_row);

}  // namespace duogemm::bench
