// The time that a kernel takes, as measured or as calculated.
#pragma once

#include <vector>

#include "families/kernel_spec.h"

namespace duogemm {

// Work-groups of one kernel, `groups` of which share a compute unit, take `fixed` seconds and `per_k` seconds
// for each k.
struct Timing {
  int groups;
  double fixed;
  double per_k;
};

// One kernel with all its tunables, and its timings in ascending number of work-groups.
struct Calibration {
  const KernelSpec* spec;
  Tunables tunables;
  std::vector<Timing> timings;
};

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

}  // namespace duogemm
