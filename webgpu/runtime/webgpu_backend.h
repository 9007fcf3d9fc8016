// WebGPU, through wgpu-native over Vulkan: a runtime for the ladder, which the library has not.
#pragma once

#include "device/backend.h"

namespace duogemm {

const Backend& webgpu_backend();

}  // namespace duogemm
