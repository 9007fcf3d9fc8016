// CUDA through the driver API.
#pragma once

#include "device/backend.h"

namespace duogemm {

const Backend& cuda_backend();

}  // namespace duogemm
