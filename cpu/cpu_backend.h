// The processor that the program runs on, by kernels that the host's own compiler has compiled.
#pragma once

#include "cpu_programs.h"
#include "device/backend.h"

namespace duogemm {

// It has one device, which needs no driver. What is launched is computed before the launch returns, by the
// calling thread and others.
const Backend& cpu_backend();

// The same device with other programs that this processor can run, and with that many threads.
std::unique_ptr<Device> open_cpu(const CpuPrograms& programs, std::size_t threads);

}  // namespace duogemm
