#include "plan.h"

namespace duogemm {

void add_step(Plan& plan, const KernelSpec& spec, const Tunables& tunables, const Geometry& geometry,
              std::vector<StepArgument> arguments, const DeviceInfo& device) {
  if (const auto reason = unsupported_reason(spec, tunables, device)) {
    throw Error(Status::unsupported, *reason);
  }
  for (std::size_t i = 0; i < geometry.groups.size(); ++i) {
    if (geometry.groups[i] > device.max_groups[i]) {
      throw Error(Status::unsupported, std::to_string(geometry.groups[i]) + " work-groups in dimension " +
                                           std::to_string(i) + "; the device allows " +
                                           std::to_string(device.max_groups[i]));
    }
  }
  plan.steps.push_back({&spec, tunables, geometry, std::move(arguments)});
}

}  // namespace duogemm
