// The machine's own memory in the guise of a device, for libraries that work there: the same buffers and the
// same clockwork as on a device, but no kernels.
#pragma once

#include <memory>

#include "device/backend.h"

namespace duogemm::bench {

// Buffer::native() is the address. Queue::timed() takes the time of the host's clock, in which what it is
// given to enqueue must have been executed.
std::unique_ptr<Device> open_host();

}  // namespace duogemm::bench
