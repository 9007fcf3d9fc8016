#include "help/version.h"

#include "device/backend.h"
#include "duogemm/version.h"
#include "machine/gpu_watch.h"
#include "support/format.h"
#include "support/program.h"

namespace duogemm::bench {
namespace {

// A driver that fails is worth a line in place of its version.
Versions versions_of(const Backend& backend) {
  try {
    return backend.versions();
  } catch (const Error& error) {
    return {{std::string(backend.name()), error.what()}};
  }
}

// The first GPU that the management library knows tells it; empty where there is none.
std::string nvidia_driver() {
  for (const Backend* backend : backends()) {
    try {
      for (const DeviceInfo& device : backend->devices()) {
        if (const auto state = query_gpu(device.pci_bus)) {
          return state->driver;
        }
      }
    } catch (const Error&) {
      continue;  // versions_of() has said why
    }
  }
  return {};
}

}  // namespace

std::string version_text(const std::string& commit) {
  std::string text = "duogemm " DUOGEMM_VERSION " (commit " + commit + ")";
  const auto add = [&](const std::string& what, const std::string& version) {
    text += "\n" + what + ": " + version;
  };
  add("backends", join(backends(), ", ", &Backend::name));
  add("build switches", build_switches());
  for (const Backend* backend : backends()) {
    for (const auto& [what, version] : versions_of(*backend)) {
      add(what, version);
    }
  }
  if (const std::string driver = nvidia_driver(); !driver.empty()) {
    add("NVIDIA driver", driver);
  }
  return text;
}

}  // namespace duogemm::bench
