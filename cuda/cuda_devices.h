// Finds the CUDA devices and states their facts.
#pragma once

#include "device/backend.h"
#include "driver.h"

namespace duogemm::cuda {

// 0 where there is no driver.
std::size_t device_count();

CUdevice device_at(std::size_t index);

DeviceInfo describe(CUdevice device, std::size_t index);

// The toolkit that it was built with, NVRTC, and the driver.
Versions versions();

// "CUDA toolkit 13.0, NVRTC 13.0"
std::string toolkit_version();

}  // namespace duogemm::cuda
