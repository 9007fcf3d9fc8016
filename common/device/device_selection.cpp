#include "device/device_selection.h"

#include <charconv>
#include <cstdlib>

#include "system/process.h"
#include "system/reject.h"

namespace duogemm {
namespace {

// source: what named it, for messages.
SelectedDevice named_device(const std::string& source, const std::string& name) {
  const std::string named = source + " '" + name + "': ";
  const std::size_t colon = name.find(':');
  const std::string runtime = name.substr(0, colon);
  const Backend* backend = find_backend(runtime);
  if (backend == nullptr) {
    reject(named + "expected a runtime of this build (" + known_backends() +
           "), with a number such as opencl:1 or without");
  }
  const std::vector<DeviceInfo> devices = backend->devices();
  if (devices.empty()) {
    reject(named + no_device_of(*backend));
  }
  if (colon == std::string::npos) {
    return {backend, preferred_device(devices)};
  }
  std::size_t index = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, index);
  if (error != std::errc() || stop != end || index >= devices.size()) {
    reject(named + runtime + " has devices 0 to " + std::to_string(devices.size() - 1));
  }
  return {backend, index};
}

}  // namespace

const Backend* find_backend(std::string_view name) {
  for (const Backend* backend : backends()) {
    if (backend->name() == name) {
      return backend;
    }
  }
  return nullptr;
}

std::string known_backends() {
  std::string known;
  for (const Backend* backend : backends()) {
    known += (known.empty() ? "" : ", ") + std::string(backend->name());
  }
  return known;
}

std::string no_device_of(const Backend& backend) {
  const std::string why = backend.obstacle();
  return "no " + std::string(backend.name()) + " device was found" + (why.empty() ? "" : ": " + why);
}

const Backend& best_backend() {
  std::string why, missing;
  for (const Backend* backend : backends()) {
    if (!backend->devices().empty()) {
      return *backend;
    }
    why += why.empty() ? backend->obstacle() : "";
    if (const std::string driver = backend->missing_driver(); !driver.empty()) {
      missing += (missing.empty() ? "; install " : " or ") + driver;
    }
  }
  reject("no device was found" + (why.empty() ? missing : ": " + why));
}

std::size_t preferred_device(const std::vector<DeviceInfo>& devices) {
  for (const DeviceInfo& device : devices) {
    if (device.kind == DeviceKind::gpu) {
      return device.index;
    }
  }
  return 0;
}

SelectedDevice select_device(const std::string& name) {
  if (!name.empty()) {
    return named_device("device", name);
  }
  constexpr const char* variable = "DUOGEMM_DEVICE";
  const char* environment = std::getenv(variable);
  if (environment != nullptr && *environment != '\0') {
    return named_device(variable, environment);
  }
  const Backend& backend = best_backend();
  return {&backend, preferred_device(backend.devices())};
}

std::unique_ptr<Device> open_selected_device(const std::string& name) {
  require_devices_work_here();  // before any driver is asked what there is
  const SelectedDevice selected = select_device(name);
  return selected.backend->open(selected.index, {});
}

}  // namespace duogemm
