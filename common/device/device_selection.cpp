#include "device/device_selection.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "system/process.h"
#include "system/reject.h"

namespace duogemm {
namespace {

std::vector<DeviceInfo> devices_of(const Backend& backend) {
  if (backend.has_driver()) {
    require_devices_work_here();  // before it is asked
  }
  return backend.devices();
}

// The runtime's name, and what follows it: ":1", "1" or nothing.
std::pair<std::string, std::string> split_name(const std::string& name) {
  const std::size_t end = std::min(name.find_first_of(":0123456789"), name.size());
  return {name.substr(0, end), name.substr(end)};
}

}  // namespace

SelectedDevice named_device(const std::string& source, const std::string& name, const Backends& known) {
  const std::string named = source + " '" + name + "': ";
  const auto [runtime, rest] = split_name(name);
  const Backend* backend = find_backend(runtime, known);
  if (backend == nullptr) {
    reject(named + "expected a runtime of this build (" + names_of(known) +
           "), with a number such as opencl:1 or without");
  }
  const std::vector<DeviceInfo> devices = devices_of(*backend);
  if (devices.empty()) {
    reject(named + no_device_of(*backend));
  }
  if (rest.empty()) {
    return {backend, preferred_device(devices)};
  }
  std::size_t index = 0;
  const char* const begin = rest.data() + (rest.front() == ':' ? 1 : 0);
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(begin, end, index);
  if (error != std::errc() || stop != end || index >= devices.size()) {
    reject(named + runtime + " has devices 0 to " + std::to_string(devices.size() - 1));
  }
  return {backend, index};
}

const Backend* find_backend(std::string_view name, const Backends& known) {
  for (const Backend* backend : known) {
    if (backend->name() == name) {
      return backend;
    }
  }
  return nullptr;
}

std::string names_of(const Backends& known) {
  std::string names;
  for (const Backend* backend : known) {
    names += (names.empty() ? "" : ", ") + std::string(backend->name());
  }
  return names;
}

std::string no_device_of(const Backend& backend) {
  const std::string why = backend.obstacle();
  return "no " + std::string(backend.name()) + " device was found" + (why.empty() ? "" : ": " + why);
}

SelectedDevice best_device() {
  SelectedDevice own{nullptr, 0}, other{nullptr, 0};
  for (const Backend* backend : backends()) {
    const std::vector<DeviceInfo> devices = devices_of(*backend);
    if (devices.empty()) {
      continue;
    }
    const std::size_t preferred = preferred_device(devices);
    if (devices[preferred].kind == DeviceKind::gpu) {
      return {backend, preferred};
    }
    SelectedDevice& found = backend->has_driver() ? other : own;
    if (found.backend == nullptr) {
      found = {backend, preferred};
    }
  }
  if (own.backend == nullptr && other.backend == nullptr) {
    reject("no device was found");
  }
  return own.backend != nullptr ? own : other;
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
  return best_device();
}

}  // namespace duogemm
