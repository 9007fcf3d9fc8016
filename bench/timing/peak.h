// The fastest that a device can do single-precision multiply-adds, measured.
#pragma once

#include <atomic>

#include "runtime/executor.h"

namespace duogemm::bench {

// In FLOP/s, by kernels/support/peak.cl: independent chains of fma in registers, on every compute unit. 0
// when it is stopped before it knows.
double measure_peak(Device& device, Queue& queue, ProgramCache& programs, const std::atomic<bool>& stop);

}  // namespace duogemm::bench
