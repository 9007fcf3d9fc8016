// Runs kernels on a device, those of the ladder or the library's: checks every setting, then times all of
// them in turns, with the reference library.
#pragma once

#include <memory>
#include <optional>

#include "ladder/ladder.h"
#include "machine/gpu_watch.h"
#include "references/reference.h"
#include "support/device_choice.h"
#include "support/progress.h"
#include "timing/device_speed.h"
#include "timing/measure.h"

namespace duogemm::bench {

// One line of the ladder. Where `unsupported` says why the device cannot run it, nothing else is there.
struct LadderRow {
  LadderSetting setting;
  std::string unsupported;
  std::size_t support_steps =
      0;                        // launches besides the multiplication: padding, transposing, removing padding
  double flops_per_byte = 0.0;  // of what a work-group gets from beyond it (see traffic.h)
  Samples samples;              // of everything, support included
  Samples multiply;             // of the multiplication alone; empty without support steps
  std::vector<Samples>
      first_steps;  // of the first step, the first two, and so on, but not all; where asked for
  Verdict check;

  // Whether its result is what the kernel owes.
  bool right() const { return reorders(setting) ? check.ok() : check.exact(); }
  // Whether it has all its samples; else the device cannot run it, or the run was interrupted.
  bool measured() const {
    return !samples.seconds.empty() && (support_steps == 0 || !multiply.seconds.empty());
  }
};

struct ReferenceRow {
  std::string name;  // empty when there is no library
  Samples samples;
  double worst_error = 0.0;  // in units of the bound
};

struct LadderReport {
  DeviceInfo device;
  Shape shape;
  double peak = 0.0;  // FLOP/s, measured
  Bandwidth bandwidth;
  std::optional<GpuState> gpu_before;
  std::optional<GpuState> gpu_after;  // right after the last sample
  std::vector<GpuMoment> gpu_during;
  std::vector<LadderRow> rows;
  ReferenceRow reference;
  std::string busy;            // what was to be said of the machine before the run; see timing_warnings.h
  std::size_t unmeasured = 0;  // rows that an interrupted run did not come to

  bool ok() const;
  // Of a run that was interrupted: leaves out what was not measured.
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
// Throws as require_ladder_memory does (see ladder_memory.h).
std::vector<LadderReport> run_ladder(const LadderRequest& request, Progress& progress);

}  // namespace duogemm::bench
