#include "support/device_choice.h"

#include <cstdlib>
#include <string>

#include "device/device_selection.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

const Backend& require_backend(std::string_view name) {
  const Backend* backend = find_backend(name);
  if (backend == nullptr) {
    reject("--backend " + std::string(name) + ": this build has " + known_backends());
  }
  return *backend;
}

ChosenDevice choose_from(const Backend& backend, std::optional<std::size_t> index) {
  const std::vector<DeviceInfo> devices = backend.devices();
  const std::string name(backend.name());
  if (devices.empty()) {
    reject("--backend " + name + ": " + no_device_of(backend));
  }
  if (index && *index >= devices.size()) {
    reject("--device " + std::to_string(*index) + ": " + name + " has devices 0 to " +
           std::to_string(devices.size() - 1));
  }
  return {&backend, index.value_or(preferred_device(devices))};
}

std::vector<ChosenDevice> choose_both(std::optional<std::size_t> index) {
  const ChosenDevice cuda = choose_from(require_backend("cuda"), index);
  const Backend& opencl = require_backend("opencl");
  const std::string bus = cuda.info().pci_bus;
  for (const DeviceInfo& device : opencl.devices()) {
    if (device.pci_bus == bus) {
      return {cuda, {&opencl, device.index}};
    }
  }
  reject("--backend all: no OpenCL platform has the CUDA device at " + bus);
}

}  // namespace

std::vector<ChosenDevice> choose_devices(const std::string& backend, const std::string& device) {
  std::optional<std::size_t> index;
  if (device.find_first_not_of("0123456789") != std::string::npos) {
    if (!backend.empty()) {
      reject("--device " + device + ": expected a number, as --backend names the runtime");
    }
    const SelectedDevice selected = named_device("--device", device);
    return {{selected.backend, selected.index}};
  }
  if (!device.empty()) {
    index = std::stoul(device.substr(0, 9));
  }
  if (backend == "all") {
    return choose_both(index);
  }
  if (backend.empty() && !index) {
    const SelectedDevice selected = select_device("");
    return {{selected.backend, selected.index}};
  }
  return {choose_from(backend.empty() ? *best_device().backend : require_backend(backend), index)};
}

std::vector<ChosenDevice> choose_compiling_devices(const std::string& backend, const std::string& device) {
  std::vector<ChosenDevice> chosen = choose_devices(backend, device);
  const char* const environment = std::getenv("DUOGEMM_DEVICE");
  const bool named = !backend.empty() || !device.empty() || (environment != nullptr && *environment != '\0');
  if (named || chosen.front().info().programs == nullptr) {
    return chosen;
  }
  for (const Backend* other : backends()) {
    for (const DeviceInfo& info : other->devices()) {
      if (info.programs == nullptr) {
        return {{other, info.index}};
      }
    }
  }
  return chosen;
}

std::vector<std::string> flags_of(const ChosenDevice& device) {
  return {"--backend", std::string(device.backend->name()), "--device", std::to_string(device.index)};
}

}  // namespace duogemm::bench
