// What the parts of the tuner share: when a setting is behind, and how much of the budget is for what.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "tune/tuner.h"

namespace duogemm::bench {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline constexpr std::size_t bests_of_a_probe = 3;

// Predicted or at first sight so many times slower than the best: not looked at any closer.
inline constexpr double far_behind = 1.3;
// Settings whose neighbours are so many times slower than the best are seldom compiled.
inline constexpr double hopeless_quality = 2.0;

// Probes that take more than this share of the budget once are left out, as are calibrations.
inline constexpr double probe_share = 1.0 / 5000;

// What is left of the budget when the search ends, when what it found has been measured again, and when the
// best of each shape has been looked for. The last part is for comparing before and after.
inline constexpr double share_after_search = 1.0 / 4;
inline constexpr double share_after_fit = 3.0 / 16;
inline constexpr double share_after_shapes = 1.0 / 8;

// As probe_share, for problems that the planner's schedules are judged by at the end.
inline constexpr double judge_share = probe_share / 4;

// Whether the device has the memory for its operands.
inline bool fits(const Problem& problem, const DeviceInfo& device) {
  const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
  const std::size_t a = bytes(problem.a_extent());
  const std::size_t b = bytes(problem.b_extent());
  const std::size_t c = bytes(problem.c_extent());
  return std::max({a, b, c}) <= device.max_allocation_bytes && a + b + c <= device.memory_bytes / 4;
}

inline std::string name_of(const KernelSpec& spec, const Tunables& tunables) {
  return spec.name + " " + to_text(tunables);
}

// By prediction, of at least one.
inline const Schedule& fastest(const std::vector<Schedule>& schedules) {
  return *std::min_element(schedules.begin(), schedules.end(),
                           [](const Schedule& a, const Schedule& b) { return *a.seconds < *b.seconds; });
}

// Whether it is the setting that fails, and not the device.
inline bool of_candidate(const Error& error) { return error.status() != Status::device_error; }

}  // namespace duogemm::bench
