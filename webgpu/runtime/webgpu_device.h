// The ladder's kernels on a device of WebGPU.
#pragma once

#include <memory>

#include "device/backend.h"
#include "runtime/wgpu_api.h"

namespace duogemm::webgpu {

std::unique_ptr<Device> open_device(api::Adapter adapter, const DeviceInfo& info, bool explains);

}  // namespace duogemm::webgpu
