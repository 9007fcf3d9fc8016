#include "support/program.h"

#include "device/backend.h"
#include "duogemm/version.h"
#include "families/kernel_source.h"
#include "machine/gpu_watch.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

std::filesystem::path program_folder() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

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

std::string build_switches() {
  std::string text = "BACKEND=" + (backends().size() > 1 ? "all" : std::string(backends().front()->name()));
  for (const auto& [name, value] : build_tunables()) {
    text += ", " + std::string(name) + (value != 0 ? "=ON" : "=OFF");
  }
  return text;
}

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

std::filesystem::path folder_of_program(const std::string& name) {
  const std::filesystem::path beside = program_folder() / name;
  return std::filesystem::exists(beside) ? beside : program_folder() / DUOGEMM_SHARE_FROM_PROGRAM / name;
}

std::optional<std::filesystem::path> drop_in_library(const char* name) {
  for (const char* folder : {"blas", DUOGEMM_LIBRARIES_FROM_PROGRAM}) {
    const std::filesystem::path file = (program_folder() / folder / name).lexically_normal();
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown)) {
      return file;
    }
  }
  return std::nullopt;
}

}  // namespace duogemm::bench
