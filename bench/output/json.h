// Result files of several commands have these members in common: bench/schema/README.md describes them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "runner/row.h"
#include "timing/device_speed.h"

namespace duogemm::bench {

using Json = nlohmann::ordered_json;

// Every result file begins with the schema, the program's version and the date.
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
Json to_json(const Machine& machine);  // device, gpu_before, gpu_after and gpu_during
Json to_json(const std::vector<Peer>& peers);

// Null in place of what is not known: of an empty value or text, and of a figure that is not above zero.
template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
inline Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
inline Json or_null(double figure) { return figure > 0.0 ? Json(figure) : Json(nullptr); }

// Lists what the function makes of each item.
template <std::ranges::input_range Items, typename Function>
Json list_of(Items&& items, const Function& function) {
  Json list = Json::array();
  for (const auto& item : items) {
    list.push_back(function(item));
  }
  return list;
}

// The same of numbers from 0 on.
template <typename Function>
Json list_of(std::size_t count, const Function& function) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(function(i));
  }
  return list;
}

// 10^9 operations per second; null without a time.
Json gflops(double flops, const Samples& samples);
// A kernel's row of a problem of `flops`.
Json to_json(const Row& row, double flops);

}  // namespace duogemm::bench
