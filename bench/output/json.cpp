#include "output/json.h"

#include "duogemm/version.h"
#include "support/shapes.h"
#include "system/date.h"

namespace duogemm::bench {

Json dated_head(const char* schema) {
  return {{"schema", schema}, {"version", DUOGEMM_VERSION}, {"date", utc_time()}};
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
  Json json;
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
  return {{"cache", or_null(bandwidth.cache)}, {"memory", bandwidth.memory}};
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

Json to_json(const Machine& machine) {
  return {{"device", to_json(machine.device)},
          {"gpu_before", to_json(machine.gpu_before)},
          {"gpu_after", to_json(machine.gpu_after)},
          {"gpu_during", to_json(machine.gpu_during)}};
}

Json to_json(const std::vector<Peer>& peers) {
  return list_of(peers, [](const Peer& peer) -> Json {
    return {{"title", peer.title}, {"name", peer.name}};
  });
}

Json gflops(double flops, const Samples& samples) {
  return samples.seconds.empty() ? Json(nullptr) : Json(flops / samples.median() / 1e9);
}

Json to_json(const Row& row, double flops) {
  const KernelSpec& spec = *row.setting.spec;
  Json json = {{"rung", label_of(row.setting)},
               {"kernel", spec.name},
               {"idea", row.setting.planned ? "duogemm's own choice" : spec.idea},
               {"tunables", row.setting.tunables}};
  if (!row.missing.empty()) {
    json[row.is_broken ? "does_not_compile" : "unsupported"] = row.missing;
    return json;
  }
  json.update({{"gflops", gflops(flops, row.samples)},
               {"ok", row.right()},
               {"error_per_bound", row.verdict.worst_error},
               {"different_bits", row.verdict.different_bits},
               {"overwritten", row.verdict.overwritten},
               {"support_steps", row.support_steps},
               {"flops_per_byte", row.flops_per_byte},
               {"time", to_json(row.samples)},
               {"multiply_time", to_json(row.multiply)}});
  return json;
}

}  // namespace duogemm::bench
