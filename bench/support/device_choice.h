// Which device a command works on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/device_selection.h"

namespace duogemm::bench {

struct ChosenDevice : SelectedDevice {
  DeviceInfo info() const { return backend->devices()[index]; }
};

// backend: "opencl", "cuda", "all", or empty for the best device there is: CUDA, then a GPU through OpenCL,
// then whatever OpenCL has. index: among the backend's devices; by default the first of the best kind. Where
// neither is given, the environment variable DUOGEMM_DEVICE chooses, as it does for the library. With "all":
// the same GPU through both runtimes, CUDA first. Throws invalid_argument naming what there is.
std::vector<ChosenDevice> choose_devices(const std::string& backend, std::optional<std::size_t> index);

// The options by which another process of this program chooses it.
std::vector<std::string> flags_of(const ChosenDevice& device);

}  // namespace duogemm::bench
