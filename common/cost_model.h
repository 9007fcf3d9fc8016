// How long a multiplication takes, foretold from a few measurements of its kernel.
//
// A work-group's time is a fixed part and a part for each k. Both depend on how many work-groups a compute
// unit has to serve: up to some number they fill each other's gaps, then each adds its own time, or several
// at once do. That curve is measured (Calibration) for small numbers, and continues in proportion. It says
// nothing of device memory, which is a floor under it: A, B and C have to be moved, most of it at the same
// time.
#pragma once

#include "problem.h"
#include "tuning.h"

namespace duogemm {

// What another kernel in the plan costs besides its work, which begins when the one before has ended.
double step_seconds(const Tuning& tuning, const DeviceInfo& device);

// How much the last cache before memory holds, in bytes.
double cache_bytes(const Tuning& tuning, const DeviceInfo& device);

// K in parts, which clusters of work-groups add up or a further step.
struct Parts {
  double count = 1.0;
  bool clustered = false;
};

// `groups` is how many work-groups there are in all, each of them over `depth` of k.
double predict_seconds(const Problem& problem, const Calibration& calibration, const Tuning& tuning,
                       const DeviceInfo& device, double groups, double depth, const Parts& parts);

}  // namespace duogemm
