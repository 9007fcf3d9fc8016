// Finds the OpenCL devices of every platform and states their facts.
#pragma once

#include <vector>

#include "device/backend.h"
#include "opencl_api.h"

namespace duogemm::opencl {

// In the order of the ICD loader's platforms. Empty when there is no platform.
std::vector<cl::Device> find_devices();

DeviceInfo describe(const cl::Device& device, std::size_t index);

}  // namespace duogemm::opencl
