// The calling thread, and others that help it, in the guise of a device: what is launched is computed before
// the launch returns. For products that take less time than it takes a driver to hand them to its threads.
#pragma once

#include <memory>

#include "device/backend.h"
#include "host/host_programs.h"

namespace duogemm {

// Has no other programs than these, and works on the host's memory alone (Device::wrap). So many threads
// compute, the calling one among them.
std::unique_ptr<Device> open_calling_thread(const HostPrograms& programs, std::size_t threads = 1);

}  // namespace duogemm
