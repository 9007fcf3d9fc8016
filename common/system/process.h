// Devices and fork(2).
#pragma once

namespace duogemm {

// Answers whether devices work in this process: not in one that was forked after this was asked. There
// drivers answer errors at best, and wait forever for threads that are not there at worst. Ask before
// anything that a thread may hold while another one forks, such as the guard of a function's static variable:
// in the child nobody releases it.
bool devices_work_here();

// Throws unsupported unless devices work here.
void require_devices_work_here();

}  // namespace duogemm
