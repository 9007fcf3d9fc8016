// Devices and fork(2).
#pragma once

namespace duogemm {

// Whether devices work in this process. The first process that asks is told so. They do not survive a fork:
// in its children drivers answer errors at best, and wait forever for threads that are not there at worst.
bool devices_work_here();

// Throws unsupported unless devices work here.
void require_devices_work_here();

}  // namespace duogemm
