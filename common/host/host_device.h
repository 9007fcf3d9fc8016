// The calling thread in the guise of a device: what is launched is computed before the launch returns. For
// products that take less time than it takes a driver to hand them to its threads.
#pragma once

#include <memory>

#include "device/backend.h"

namespace duogemm {

// Has no other programs than host_programs(), and works on the host's memory alone (Device::wrap). Null where
// there are none.
std::unique_ptr<Device> open_calling_thread();

}  // namespace duogemm
