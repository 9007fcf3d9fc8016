// Which device a call works on when the caller names one in words, or none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/backend.h"

namespace duogemm {

struct SelectedDevice {
  const Backend* backend;
  std::size_t index;  // among the backend's devices
};

// name: "cuda", "opencl", either with a number ("opencl:1"), or empty: then the environment variable
// DUOGEMM_DEVICE says, and without it the best device is taken: CUDA's first, then a GPU through OpenCL, then
// the first that OpenCL has. Throws invalid_argument naming what there is.
SelectedDevice select_device(const std::string& name);

// Opens that device. Throws as select_device() does, and unsupported where a fork has left no device usable.
std::unique_ptr<Device> open_selected_device(const std::string& name);

// The backend of this build with that name; null when there is none.
const Backend* find_backend(std::string_view name);

// "cuda, opencl": what this build has, for messages.
std::string known_backends();

// "no opencl device was found", with the reason where one is known. The backend has none.
std::string no_device_of(const Backend& backend);

// The first backend that has a device. Throws invalid_argument when none has.
const Backend& best_backend();

// The number of the backend's device to take when none is named: its first GPU, or else its first. The
// backend has one.
std::size_t preferred_device(const std::vector<DeviceInfo>& devices);

}  // namespace duogemm
