// Which device a command works on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/backend.h"

namespace duogemm::bench {

struct ChosenDevice {
  const Backend* backend;
  std::size_t index;

  DeviceInfo info() const { return backend->devices()[index]; }
};

// backend: "opencl", "cuda", "cpu", "all", or empty for that of the best device there is (see select_device).
// device: a number among the backend's devices, by default the first of the best kind, or, without a backend,
// a name such as "cpu0". Where neither is given, the environment variable DUOGEMM_DEVICE chooses, as it does
// for the library. With "all": the same GPU through both runtimes, CUDA first. Throws invalid_argument naming
// what there is.
std::vector<ChosenDevice> choose_devices(const std::string& backend, const std::string& device);
// The same for kernels that a device has to compile: where nothing is named, the best device that does, if
// there is one.
std::vector<ChosenDevice> choose_compiling_devices(const std::string& backend, const std::string& device);

// The options by which another process of this program chooses it.
std::vector<std::string> flags_of(const ChosenDevice& device);

}  // namespace duogemm::bench
