// Kernels on one problem, those of the ladder or the library's: every setting is checked, and all of them are
// timed in turns, with the main other library.
#pragma once

#include <optional>

#include "runner/row.h"
#include "support/device_choice.h"
#include "support/progress.h"
#include "timing/device_speed.h"
#include "timing/measure.h"

namespace duogemm::bench {

// "register_wide WIDTH=8": with what is not the kernel file's own.
std::string name_of(const LadderSetting& setting);

struct LadderReport : Machine {
  Shape shape = {};
  double peak = 0.0;  // FLOP/s, measured
  Bandwidth bandwidth = {};
  std::vector<Row> rows;       // of the settings
  Row reference;               // of the other library; without a name where there is none
  std::string busy;            // what was to be said of the machine before the run; see timing_warnings.h
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

// One report per device; contenders of all devices take turns in the same loop. Where `measure.stop` becomes
// true, rows may be without samples, and without a shape that was asked for there may be no report.
// Throws out_of_memory, naming the shape and what there is, before anything is allocated.
std::vector<LadderReport> run_ladder(const LadderRequest& request, Progress& progress);

// Throws so where there is not the memory.
void require_ladder_memory(const LadderRequest& request, const Shape& shape);

}  // namespace duogemm::bench
