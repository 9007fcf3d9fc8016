// Which device a command works on.
#pragma once

#include <string>
#include <vector>

#include "device/device_selection.h"

namespace duogemm::bench {

// Those of the library, and WebGPU, which runs the ladder alone.
const Backends& laboratory_backends();

struct ChosenDevice : SelectedDevice {
  DeviceInfo info() const { return backend->devices()[index]; }
};

// The options by which another process of this program chooses it.
inline std::vector<std::string> flags_of(const ChosenDevice& device) {
  return {"--backend", std::string(device.backend->name()), "--device", std::to_string(device.index)};
}

}  // namespace duogemm::bench
