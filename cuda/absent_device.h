// A device that is not there: its compiler alone (see Backend::absent).
#pragma once

#include <memory>

#include "device/backend.h"

namespace duogemm::cuda {

std::unique_ptr<Device> absent_device(int compute_capability);

}  // namespace duogemm::cuda
