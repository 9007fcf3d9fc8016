#include "plan/analytic.h"

#include <algorithm>

namespace duogemm {
namespace {

bool multiplies_terms(const Calibration& calibration, const DeviceInfo& device) {
  return !calibration.spec->family->multiplies_in(Precision::fp32) &&
         !unsupported_reason(*calibration.spec, calibration.tunables, device);
}

void add_calculated(Tuning& tuning, const UnmeasuredGpu& gpu, bool in_fp32) {
  for (const KernelSpec& spec : registry()) {
    if (spec.family && spec.family->multiplies_in(Precision::fp32) == in_fp32) {
      std::ranges::move(spec.family->calculated(spec, gpu), std::back_inserter(tuning.calibrations));
    }
  }
}

Tuning calculated(const DeviceInfo& device) {
  const UnmeasuredGpu gpu(device);
  Tuning tuning;
  tuning.source = "calculated";
  tuning.bandwidth = gpu.bandwidth;
  tuning.launch = gpu.launch;
  add_calculated(tuning, gpu, true);
  return tuning;
}

Tuning with_tensor_cores(Tuning tuning, const DeviceInfo& device) {
  if (std::ranges::none_of(tuning.calibrations,
                           [&](const Calibration& each) { return multiplies_terms(each, device); })) {
    add_calculated(tuning, UnmeasuredGpu(device), false);
  }
  return tuning;
}

}  // namespace

Tuning tuning_or_analytic(const DeviceInfo& device) {
  const Tuning& tuning = tuning_for(device);
  if (device.kind == DeviceKind::cpu) {
    return tuning;
  }
  return with_tensor_cores(tuning.calibrations.empty() ? calculated(device) : tuning, device);
}

Tuning tuning_without(const KernelSpec& kernel, const DeviceInfo& device) {
  Tuning tuning = tuning_or_analytic(device);
  std::erase_if(tuning.calibrations, [&](const Calibration& each) { return each.spec == &kernel; });
  return with_tensor_cores(std::move(tuning), device);
}

}  // namespace duogemm
