// PoCL's threads on the cores of a CPU.
#pragma once

#include "opencl_api.h"

namespace duogemm::opencl {

// Gives each of the threads that carry out work-groups a core to itself, once per process and device, where
// there are as many cores for the process as threads. Linux may wake several of them on one core and leave
// them there for the time of a small product, which then takes twice as long. Where the user has said
// something by POCL_AFFINITY, and for other devices, nothing happens.
void keep_threads_apart(const cl::Context& context, const cl::Device& device, std::size_t threads);

}  // namespace duogemm::opencl
