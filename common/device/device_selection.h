// Which device a call works on when the caller names one in words, or none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/backend.h"

namespace duogemm {

struct SelectedDevice {
  const Backend* backend;
  std::size_t index;  // among the backend's devices
};

// name: "cuda", "opencl" or "cpu", each with a number ("opencl:1" or "opencl1") or without, or empty: then
// the environment variable DUOGEMM_DEVICE says, and without it the best device is taken: CUDA's first, then a
// GPU through OpenCL, then the processor, by the library's own kernels. Throws invalid_argument naming what
// there is, and unsupported where a fork has left no driver usable that would have to be asked.
SelectedDevice select_device(const std::string& name);

using Backends = std::vector<const Backend*>;

// The same for a name that is not empty; `source` tells where it stands, for messages.
SelectedDevice named_device(const std::string& source, const std::string& name,
                            const Backends& known = backends());

// The backend with that name, this build's or one of others; null when there is none.
const Backend* find_backend(std::string_view name, const Backends& known = backends());

// "cuda, opencl": what there is, for messages.
std::string names_of(const Backends& known);

// "no opencl device was found", with the reason where one is known. The backend has none.
std::string no_device_of(const Backend& backend);

// Throws invalid_argument where there is no device.
SelectedDevice best_device();

// The number of the backend's device to take when none is named: its first GPU, or else its first. The
// backend has one.
std::size_t preferred_device(const std::vector<DeviceInfo>& devices);

}  // namespace duogemm
