// Measurements that nobody made: for a GPU without a tuning file, what the device says of itself tells how
// long a few well-shaped kernels should take. Only their order matters for the choice.
#pragma once

#include "plan/tuning.h"

namespace duogemm {

// As tuning_for() has it, or of a GPU for which that has no kernels, by calculation.
// Kernels for split terms are calculated, too, where it has none that the device can run.
Tuning tuning_or_analytic(const DeviceInfo& device);

// The same of a device on which that kernel does not work, though its compute capability has it.
Tuning tuning_without(const KernelSpec& kernel, const DeviceInfo& device);

}  // namespace duogemm
