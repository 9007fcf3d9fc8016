#include "programs_to_ship.h"

#include <set>

#include "plan/lower.h"
#include "program_archive.h"
#include "runtime/program_cache.h"

namespace duogemm::cuda {
namespace {

// A device that such a file speaks of, as far as that decides which programs there are.
DeviceInfo device_of(const TuningTarget& target) {
  DeviceInfo device;
  device.backend = target.backend;
  device.kind = DeviceKind::gpu;
  device.name = target.name;
  device.compute_capability = target.compute_capability;
  device.local_bytes = 48 * 1024;  // as every device has
  device.large_local_bytes = large_local_bytes(target.compute_capability);
  device.max_work_group = 1024;
  device.clusters = target.compute_capability >= 90;
  return device;
}

}  // namespace

std::vector<ShippedProgram> programs_to_ship() {
  std::vector<ShippedProgram> programs;
  std::set<ProgramKey> keys;
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    const int capability = embedded.target.compute_capability;
    if (embedded.target.backend == "cuda" && capability > 0) {
      const Planner planner(device_of(embedded.target), tuning_of(embedded));
      const auto ship = [&](const Variant& variant) {
        ShippedProgram program{program_source(variant), capability};
        if (keys.insert(program_key(program.source, capability)).second) {
          programs.push_back(std::move(program));
        }
      };
      for (const Variant* variant : programs_of(planner)) {
        ship(*variant);
        if (const Variant* with_bias = biased(*variant)) {
          ship(*with_bias);
        }
      }
    }
  }
  return programs;
}

}  // namespace duogemm::cuda
