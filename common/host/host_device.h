// The calling thread in the guise of a device: what is launched is computed before the launch returns. For
// products that take less time than it takes a driver to hand them to its threads.
#pragma once

#include <memory>

#include "device/backend.h"
#include "host/host_programs.h"

namespace duogemm {

// Has no other programs than these, and works on the host's memory alone (Device::wrap).
std::unique_ptr<Device> open_calling_thread(const HostPrograms& programs);

// With the widest vectors of host_programs(). Null where there are none.
std::unique_ptr<Device> open_calling_thread();

}  // namespace duogemm
