#include "device_choice.h"

#include "device_selection.h"

namespace duogemm::bench {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

const Backend& find_backend(std::string_view name) {
  std::string known;
  for (const Backend* backend : backends()) {
    if (backend->name() == name) {
      return *backend;
    }
    known += (known.empty() ? "" : ", ") + std::string(backend->name());
  }
  reject("--backend " + std::string(name) + ": this build has " + known);
}

ChosenDevice choose_from(const Backend& backend, std::optional<std::size_t> index) {
  const std::vector<DeviceInfo> devices = backend.devices();
  const std::string name(backend.name());
  if (devices.empty()) {
    reject("--backend " + name + ": no " + name + " device was found");
  }
  if (index && *index >= devices.size()) {
    reject("--device " + std::to_string(*index) + ": " + name + " has devices 0 to " +
           std::to_string(devices.size() - 1));
  }
  return {&backend, index.value_or(preferred_device(devices))};
}

ChosenDevice choose_best(std::optional<std::size_t> index) {
  for (const Backend* backend : backends()) {
    if (!backend->devices().empty()) {
      return choose_from(*backend, index);
    }
  }
  reject(
      "no device was found; install an OpenCL driver (pocl-opencl-icd runs on any CPU) or NVIDIA's driver");
}

std::vector<ChosenDevice> choose_both(std::optional<std::size_t> index) {
  const ChosenDevice cuda = choose_from(find_backend("cuda"), index);
  const Backend& opencl = find_backend("opencl");
  const std::string bus = cuda.info().pci_bus;
  for (const DeviceInfo& device : opencl.devices()) {
    if (device.pci_bus == bus) {
      return {cuda, {&opencl, device.index}};
    }
  }
  reject("--backend all: no OpenCL platform has the CUDA device at " + bus);
}

}  // namespace

std::vector<ChosenDevice> choose_devices(const std::string& backend, std::optional<std::size_t> index) {
  if (backend == "all") {
    return choose_both(index);
  }
  return {backend.empty() ? choose_best(index) : choose_from(find_backend(backend), index)};
}

}  // namespace duogemm::bench
