#include "test_devices.h"

#include <cstdlib>
#include <map>

namespace duogemm::testing {

std::vector<DeviceName> test_devices() {
  std::vector<DeviceName> names;
  for (const Backend* backend : backends()) {
    const std::size_t count = std::max<std::size_t>(backend->devices().size(), 1);
    for (std::size_t i = 0; i < count; ++i) {
      names.push_back({backend, i});
    }
  }
  return names;
}

std::string DeviceName::missing() const {
  return index >= backend->devices().size() ? "no " + std::string(backend->name()) + " device was found" : "";
}

TestDevice* find_test_device(const DeviceName& name, std::string& why) {
  if (const std::string missing = name.missing(); !missing.empty()) {
    why = missing;
    return nullptr;
  }
  static std::map<std::string, TestDevice> open;
  TestDevice& found = open[name.text()];
  if (!found.device) {
    found.device = name.backend->open(name.index, {});
    found.queue = found.device->create_queue();
    found.programs = std::make_unique<ProgramCache>(*found.device);
  }
  return &found;
}

bool miscompiles_pipelined(const DeviceInfo& info) {
  const std::string name = "PoCL ";
  const std::size_t found = info.platform_version.find(name);
  if (found == std::string::npos) {
    return false;
  }
  const int major = std::atoi(info.platform_version.c_str() + found + name.size());
  return major == 4 || major == 5;
}

}  // namespace duogemm::testing
