#include "report/json_parts.h"

#include <ctime>

#include "duogemm/version.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace

Json dated_head(const char* schema) {
  return {{"schema", schema}, {"version", DUOGEMM_VERSION}, {"date", utc_now()}};
}

Json file_head(const char* schema, bool cold, const MeasureOptions& measure) {
  Json head = dated_head(schema);
  head.update({{"operands", cold ? "cold" : "hot"}, {"noise", measure.noise}, {"seconds", measure.seconds}});
  return head;
}

Json to_json(const DeviceInfo& device) {
  return {{"backend", device.backend},
          {"name", device.name},
          {"vendor", device.vendor},
          {"platform", device.platform},
          {"driver", device.driver},
          {"runtime", device.runtime},
          {"compute_capability", device.compute_capability},
          {"compute_units", device.compute_units},
          {"max_clock_mhz", device.clock_mhz},
          {"memory_bytes", device.memory_bytes},
          {"cache_bytes", device.cache_bytes},
          {"local_bytes", device.local_bytes}};
}

Json to_json(const std::optional<GpuState>& state) {
  if (!state) {
    return nullptr;
  }
  return {{"driver", state->driver},
          {"sm_mhz", state->sm_mhz},
          {"memory_mhz", state->memory_mhz},
          {"temperature_c", state->temperature_c},
          {"power_w", state->power_w}};
}

Json to_json(const std::vector<GpuMoment>& moments) {
  if (moments.empty()) {
    return nullptr;
  }
  Json json = {{"seconds", Json::array()},       {"sm_mhz", Json::array()},  {"memory_mhz", Json::array()},
               {"temperature_c", Json::array()}, {"power_w", Json::array()}, {"slowed_by", Json::array()}};
  for (const auto& [seconds, state] : moments) {
    json["seconds"].push_back(seconds);
    json["sm_mhz"].push_back(state.sm_mhz);
    json["memory_mhz"].push_back(state.memory_mhz);
    json["temperature_c"].push_back(state.temperature_c);
    json["power_w"].push_back(state.power_w);
    json["slowed_by"].push_back(state.slowed_by);
  }
  return json;
}

Json to_json(const Bandwidth& bandwidth) {
  return {{"cache", bandwidth.cache > 0.0 ? Json(bandwidth.cache) : Json(nullptr)},
          {"memory", bandwidth.memory}};
}

Json to_json(const Problem& p) {
  return {{"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"ops", ops_of(p)},
          {"alpha", p.alpha},
          {"beta", p.beta},
          {"lda", p.lda},
          {"ldb", p.ldb},
          {"ldc", p.ldc},
          {"batch", p.batch},
          {"a_stride", p.a_stride},
          {"b_stride", p.b_stride},
          {"c_stride", p.c_stride}};
}

Json to_json(const Samples& samples) {
  if (samples.seconds.empty()) {
    return nullptr;
  }
  return {{"median_s", samples.median()},
          {"spread", samples.spread()},
          {"noise", samples.noise()},
          {"repeats", samples.repeats},
          {"seconds", samples.seconds}};
}

}  // namespace duogemm::bench
