#include "cost_model.h"

#include <algorithm>
#include <cmath>

namespace duogemm {
namespace {

// On the curve through the measured points. Beyond them every work-group adds its share of the last: a line
// through the last two would promise too much of small tiles, which do not fill a unit yet at that point.
// There is one launch all the same.
Timing at(const std::vector<Timing>& timings, double groups, double launch) {
  if (groups > timings.back().groups) {
    const double times = groups / timings.back().groups;
    const double once = std::min(launch, timings.back().fixed);
    return {0, once + times * (timings.back().fixed - once), times * timings.back().per_k};
  }
  if (timings.size() == 1 || groups <= timings.front().groups) {
    return timings.front();
  }
  std::size_t upper = 1;
  while (upper + 1 < timings.size() && timings[upper].groups < groups) {
    ++upper;
  }
  const Timing& from = timings[upper - 1];
  const Timing& to = timings[upper];
  const double share = (groups - from.groups) / (to.groups - from.groups);
  return {0, from.fixed + share * (to.fixed - from.fixed), from.per_k + share * (to.per_k - from.per_k)};
}

// Reading is so much faster than reading and writing in turns, of which the bandwidth is (on an H200).
constexpr double reading = 1.4;

// Two things that go on at the same time. The shorter one is not hidden altogether, and decides where the
// longer one is the same for all kernels.
double overlapped(double one, double other) {
  constexpr double visible = 0.05;
  return std::max(one, other) + visible * std::min(one, other);
}

}  // namespace

// A device that has nothing to do but this step fills and drains once more: 2 us on an H200, where
// tuning.launch, of kernels without work, is 1.9. A step that is started early saves 1 of them.
double step_seconds(const Tuning& tuning, const DeviceInfo& device) {
  return tuning.launch + (device.steps_overlap ? 1e-6 : 2e-6);
}

double predict_seconds(const Problem& problem, const Calibration& calibration, const Tuning& tuning,
                       const DeviceInfo& device, double groups, double depth, double parts) {
  const double per_unit = std::ceil(groups / static_cast<double>(device.compute_units));
  const Timing timing = at(calibration.timings, per_unit, tuning.launch);
  double seconds = timing.fixed + depth * timing.per_k;
  if (tuning.bandwidth <= 0.0) {
    return seconds;
  }
  const double batch = static_cast<double>(problem.batch);
  const double m = static_cast<double>(problem.m);
  const double n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k);
  const double c = batch * m * n * (problem.beta == 0.0f ? 1.0 : 2.0);
  const double inputs =
      (problem.a_stride == 0 ? 1.0 : batch) * m * k + (problem.b_stride == 0 ? 1.0 : batch) * n * k;
  seconds = overlapped(seconds, sizeof(float) * (inputs / reading + c) / tuning.bandwidth);
  if (parts > 1.0) {
    // Every part is written and read again, out of the cache for the most part.
    seconds += step_seconds(tuning, device) +
               sizeof(float) * (2.0 * parts * batch * m * n + c) / (2.0 * tuning.bandwidth);
  }
  return seconds;
}

}  // namespace duogemm
