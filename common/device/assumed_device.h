// One device can play another, so that what the library does on a device that nobody has can be tried.
#pragma once

#include "device/device_info.h"

namespace duogemm {

// Where the environment variable DUOGEMM_ASSUME has a compute capability such as 8.9, an NVIDIA device is
// described as an unknown one of that: without a tuning file, with as much local memory and as many
// work-items on a compute unit, and without clusters and early starts before 9.0. Its code is still compiled
// for what it is, and its tensor cores, clock, lanes and number of units are its own. A device that has less
// stays what it is. Throws invalid_argument where the value is no compute capability from 8.0 on.
void assume(DeviceInfo& info);

}  // namespace duogemm
