// What was measured of one GPU tells how long the same programs take on another.
#pragma once

#include "plan/tuning.h"

namespace duogemm {

// The measurements of a device of which the clock and units are known, for another NVIDIA device. A compute
// unit takes as many cycles for a work-group's start and end, and for each k as many as its lanes need. Of
// work-groups for which it has no room at once nothing was measured. Memory and clusters are scaled by what
// the device says of itself, or else by what such devices have.
Tuning scaled(const Tuning& measured, const DeviceInfo& device);

}  // namespace duogemm
