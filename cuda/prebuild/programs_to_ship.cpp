#include <algorithm>
#include <set>
#include <tuple>

#include "plan/lower.h"
#include "prebuild/program_archive.h"
#include "runtime/program_cache.h"

namespace duogemm::cuda {
namespace {

// A device that such a file speaks of, as far as that decides which programs there are.
DeviceInfo device_of(const TuningTarget& target, const std::string& runtime) {
  DeviceInfo device;
  device.backend = runtime;
  device.kind = DeviceKind::gpu;
  device.name = target.name;
  device.compute_capability = target.compute_capability;
  device.local_bytes = 48 * 1024;  // as every device has
  device.dynamic_local_bytes = dynamic_local_bytes(target.compute_capability);
  device.max_work_group = 1024;
  device.clusters = runtime == "cuda" && target.compute_capability >= 90;
  return device;
}

// Those that such a device may need, and that the library can carry: NVIDIA's OpenCL driver compiles kernels
// that declare more local memory than every device has, but the assembler refuses them.
std::vector<const Variant*> variants_for(const EmbeddedTuning& embedded, const std::string& runtime) {
  const Planner planner(device_of(embedded.target, runtime), tuning_of(embedded));
  std::vector<const Variant*> variants;
  for (const Variant* kernel : programs_of(planner)) {
    if (runtime == "cuda" || !kernel->dynamic_local) {
      variants.push_back(kernel);
    }
  }
  return variants;
}

}  // namespace

std::vector<ShippedProgram> programs_to_ship(const std::vector<std::string>& runtimes) {
  std::vector<ShippedProgram> programs;
  std::set<ProgramKey> keys;
  for (const std::string& runtime : runtimes) {
    for (const EmbeddedTuning& embedded : embedded_tunings()) {
      const int capability = embedded.target.compute_capability;
      const std::string& only = embedded.target.backend;
      if (capability == 0 || (!only.empty() && only != runtime)) {
        continue;
      }
      for (const Variant* variant : variants_for(embedded, runtime)) {
        ShippedProgram program{program_source(*variant), runtime, capability};
        if (keys.insert(program_key(program.source, runtime, capability)).second) {
          programs.push_back(std::move(program));
        }
      }
    }
  }
  std::ranges::sort(programs, {}, [](const ShippedProgram& program) {
    return std::tie(program.source.entry, program.source.defines, program.runtime);
  });
  return programs;
}

}  // namespace duogemm::cuda
