// What the result files of several commands have in common, as bench/schema/README.md describes it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "device/device_info.h"
#include "machine/gpu_watch.h"
#include "problem/problem.h"
#include "timing/device_speed.h"
#include "timing/measure.h"

namespace duogemm::bench {

using Json = nlohmann::ordered_json;

// What every result file begins with: which schema and program, and when.
Json dated_head(const char* schema);
// The same, and how it was measured in the loop of bench/timing/measure.h.
Json file_head(const char* schema, bool cold, const MeasureOptions& measure);
Json to_json(const DeviceInfo& device);
Json to_json(const std::optional<GpuState>& state);  // null when empty
// A list for each quantity; null when nothing was seen.
Json to_json(const std::vector<GpuMoment>& moments);
Json to_json(const Bandwidth& bandwidth);
// Scalars that are not finite become null: JSON has no such numbers.
Json to_json(const Problem& problem);
Json to_json(const Samples& samples);  // null when there are none

}  // namespace duogemm::bench
