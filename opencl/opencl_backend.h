// OpenCL through the ICD loader.
#pragma once

#include "device/backend.h"

namespace duogemm {

const Backend& opencl_backend();

}  // namespace duogemm
