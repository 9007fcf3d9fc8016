// Finds the OpenCL devices of every platform and states their facts.
#pragma once

#include <vector>

#include "device/backend.h"
#include "opencl_api.h"

namespace duogemm::opencl {

// The headers, the ICD loader, and each platform.
Versions versions();

// Why a platform has no device; empty where each has some, and where there is none.
std::string obstacle();

// In the order of the ICD loader's platforms. Empty when there is no platform.
std::vector<cl::Device> find_devices();

DeviceInfo describe(const cl::Device& device, std::size_t index);

}  // namespace duogemm::opencl
