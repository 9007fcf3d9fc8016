// The processor that the program runs on, by kernels that the host's own compiler has compiled.
#pragma once

#include "device/backend.h"

namespace duogemm {

// A device for each set of instructions that the processor has, the widest vectors first; none where the
// build has no programs. What is launched is computed before the launch returns, on the host's memory alone
// (Device::wrap), by the calling thread and as many others as DeviceOptions::threads says.
const Backend& cpu_backend();

}  // namespace duogemm
