// How fast the device can read.
#pragma once

#include <atomic>

#include "runtime/program_cache.h"

namespace duogemm::bench {

// Bytes per second that kernels/support/bandwidth.cl reads.
struct Bandwidth {
  double cache = 0.0;  // a GPU's, which all work-groups share; 0 on a CPU, whose cores have their own
  double memory = 0.0;
};

// Of device memory that measuring takes.
std::size_t bandwidth_bytes(const DeviceInfo& info);

// 0 where it is stopped before it knows.
Bandwidth measure_bandwidth(Device& device, Queue& queue, ProgramCache& programs,
                            const std::atomic<bool>& stop);

}  // namespace duogemm::bench
