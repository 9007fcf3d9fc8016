#include "device_selection.h"

#include <charconv>
#include <cstdlib>

namespace duogemm {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

std::string known_backends() {
  std::string known;
  for (const Backend* backend : backends()) {
    known += (known.empty() ? "" : ", ") + std::string(backend->name());
  }
  return known;
}

std::unique_ptr<Device> open_best() {
  for (const Backend* backend : backends()) {
    const std::vector<DeviceInfo> devices = backend->devices();
    if (!devices.empty()) {
      return backend->open(preferred_device(devices), {});
    }
  }
  reject(
      "no device was found; install an OpenCL driver (pocl-opencl-icd runs on any CPU) or NVIDIA's driver");
}

std::unique_ptr<Device> open_named(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string runtime = name.substr(0, colon);
  for (const Backend* backend : backends()) {
    if (backend->name() != runtime) {
      continue;
    }
    const std::vector<DeviceInfo> devices = backend->devices();
    if (devices.empty()) {
      reject("device '" + name + "': no " + runtime + " device was found");
    }
    if (colon == std::string::npos) {
      return backend->open(preferred_device(devices), {});
    }
    std::size_t index = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, index);
    if (error != std::errc() || stop != end || index >= devices.size()) {
      reject("device '" + name + "': " + runtime + " has devices 0 to " + std::to_string(devices.size() - 1));
    }
    return backend->open(index, {});
  }
  reject("device '" + name + "': expected a runtime of this build (" + known_backends() +
         "), with a number such as opencl:1 or without");
}

}  // namespace

std::size_t preferred_device(const std::vector<DeviceInfo>& devices) {
  for (const DeviceInfo& device : devices) {
    if (device.kind == DeviceKind::gpu) {
      return device.index;
    }
  }
  return 0;
}

std::unique_ptr<Device> open_selected_device(const std::string& name) {
  if (!name.empty()) {
    return open_named(name);
  }
  const char* environment = std::getenv("DUOGEMM_DEVICE");
  return environment != nullptr && *environment != '\0' ? open_named(environment) : open_best();
}

}  // namespace duogemm
