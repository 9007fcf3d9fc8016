// Measurements that nobody made: for a GPU without a tuning file, what the device says of itself tells how
// long a few well-shaped kernels should take. Only their order matters for the choice.
#pragma once

#include "plan/tuning.h"

namespace duogemm {

// A GPU of which only is known what it says of itself, and what GPUs of the last ten years have in common.
struct UnmeasuredGpu {
  explicit UnmeasuredGpu(const DeviceInfo& device);

  // The kernel's work-groups, up to that many on a compute unit, do `work` for each k, of which a busy
  // unit does `rate` in a second.
  Calibration calibration(const Variant& kernel, int most_groups, double work, double rate) const;

  const DeviceInfo& device;
  double units;      // compute units
  double clock;      // cycles per second
  double lanes;      // multiply-adds of a compute unit in one cycle
  double bandwidth;  // of memory, bytes per second
  double launch = 3e-6;
  double fixed = launch + 1e-6;  // with a work-group's first tile, and emptying
};

// As tuning_for() has it, or of a GPU for which that has no kernels, by calculation.
// Kernels for pieces are calculated, too, where it has none that the device can run.
Tuning tuning_or_analytic(const DeviceInfo& device);

// The same of a device on which that kernel does not work, though its compute capability has it.
Tuning tuning_without(const KernelSpec& kernel, const DeviceInfo& device);

}  // namespace duogemm
