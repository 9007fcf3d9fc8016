// Measures how fast a device computes and reads at best, by the kernels under kernels/support.
#pragma once

#include <atomic>

#include "runtime/program_cache.h"

namespace duogemm::bench {

// In FLOP/s: independent chains of fma in registers, on every compute unit. 0 when it is stopped before it
// knows.
double measure_peak(Device& device, Queue& queue, ProgramCache& programs, const std::atomic<bool>& stop);

// Bytes per second that are read; 0 where it is stopped before it knows.
struct Bandwidth {
  double cache = 0.0;  // a GPU's, which all work-groups share; 0 on a CPU, whose cores have their own
  double memory = 0.0;
};
Bandwidth measure_bandwidth(Device& device, Queue& queue, ProgramCache& programs,
                            const std::atomic<bool>& stop);

// Measuring the bandwidth takes this much device memory.
std::size_t bandwidth_bytes(const DeviceInfo& info);

}  // namespace duogemm::bench
