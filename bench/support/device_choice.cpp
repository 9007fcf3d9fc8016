#include "support/device_choice.h"

#include "system/reject.h"

namespace duogemm::bench {
namespace {

const Backend& require_backend(const std::string& name) {
  const Backend* backend = find_backend(name);
  if (backend == nullptr) {
    reject("--backend " + name + ": this build has " + known_backends());
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
  return {{&backend, index.value_or(preferred_device(devices))}};
}

}  // namespace

std::vector<ChosenDevice> choose_devices(const std::string& backend, std::optional<std::size_t> index) {
  if (backend.empty() && !index) {
    return {{select_device("")}};
  }
  if (backend != "all") {
    return {choose_from(backend.empty() ? best_backend() : require_backend(backend), index)};
  }
  const ChosenDevice cuda = choose_from(require_backend("cuda"), index);
  const Backend& opencl = require_backend("opencl");
  const std::string bus = cuda.info().pci_bus;
  for (const DeviceInfo& device : opencl.devices()) {
    if (device.pci_bus == bus) {
      return {cuda, {{&opencl, device.index}}};
    }
  }
  reject("--backend all: no OpenCL platform has the CUDA device at " + bus);
}

std::vector<std::string> flags_of(const ChosenDevice& device) {
  return {"--backend", std::string(device.backend->name()), "--device", std::to_string(device.index)};
}

}  // namespace duogemm::bench
