#include "explain/explain.h"
#include "output/json.h"
#include "problem/precision.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.explain/1";

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json loop_json(const MainLoop& loop) {
  Json kinds_json = Json::object();
  for (std::size_t i = 0; i < kinds; ++i) {
    const Mix::Count& count = loop.mix.counts[i];
    kinds_json[name_of(static_cast<Kind>(i))] = {{"instructions", count.instructions},
                                                 {"bytes", count.bytes}};
  }
  return {{"first", loop.first},
          {"last", loop.last},
          {"inner_trips", loop.inner_trips},
          {"multiply_adds", loop.mix.multiply_adds},
          {"instructions", loop.mix.instructions()},
          {"kinds", kinds_json}};
}

Json resources_json(const Explanation& e) {
  return {{"registers", or_null(e.artefacts.registers())},
          {"spilled_bytes", or_null(e.artefacts.spilled())},
          {"local_bytes", e.local_bytes},
          {"local_size", e.local},
          {"resident_groups", or_null(e.resident_groups())},
          {"resident_warps", e.occupancy ? Json(e.occupancy->warps) : Json(nullptr)},
          {"most_warps", e.occupancy ? Json(e.occupancy->most_warps) : Json(nullptr)},
          {"limited_by", e.occupancy ? Json(e.occupancy->limit) : Json(nullptr)}};
}

Json tensor_cores_json(const Explanation& e) {
  const double utilisation = e.tensor_utilisation();
  return {{"products", e.products},
          {"promotion", e.loop ? Json(e.promotion()) : Json(nullptr)},
          {"utilisation", utilisation > 0.0 ? Json(utilisation) : Json(nullptr)}};
}

Json explanation_json(const Explanation& e) {
  Json json = {{"backend", e.device.backend},
               {"rung", label_of(*e.setting.spec)},
               {"kernel", e.setting.spec->name},
               {"tunables", e.tunables},
               {"precision", to_text(e.setting.precision)},
               {"compiled_for", e.device.name + " through " + e.device.runtime},
               {"resources", resources_json(e)},
               {"language", e.artefacts.language},
               {"missing", e.artefacts.missing},
               {"loop", e.loop ? loop_json(*e.loop) : Json(nullptr)},
               {"levels", Json::array()},
               {"bounds", Json::array()},
               {"tensor_cores", e.products > 0 ? tensor_cores_json(e) : Json(nullptr)},
               {"steps", Json::array()},
               {"gflops", e.speed() > 0.0 ? Json(e.speed() / 1e9) : Json(nullptr)},
               {"time", to_json(e.measured)}};
  for (const Level& level : e.roofline.levels) {
    json["levels"].push_back(
        {{"name", level.name},
         {"flops_per_byte", level.flops_per_byte},
         {"bytes_per_second", level.bytes_per_second > 0.0 ? Json(level.bytes_per_second) : Json(nullptr)}});
  }
  for (const StepTime& step : e.step_times) {
    json["steps"].push_back({{"name", step.name}, {"seconds", step.seconds}});
  }
  for (const Bound& bound : e.roofline.bounds) {
    json["bounds"].push_back({{"name", bound.name}, {"gflops", bound.flops / 1e9}});
  }
  return json;
}

}  // namespace

std::string explain_json(const ExplainReport& report, const ExplainRequest& request) {
  Json json = file_head(schema, request.cold, request.measure);
  json.update({{"m", request.shape.m},
               {"n", request.shape.n},
               {"k", request.shape.k},
               {"devices", Json::array()},
               {"kernels", Json::array()}});
  for (const LadderReport& run : report.runs) {
    json["devices"].push_back({{"device", to_json(run.device)},
                               {"peak_gflops", run.peak / 1e9},
                               {"bandwidth", to_json(run.bandwidth)},
                               {"gpu_during", to_json(run.gpu_during)},
                               {"warnings", run.warnings(request.measure.noise)}});
  }
  for (const Explanation& explanation : report.explanations) {
    json["kernels"].push_back(explanation_json(explanation));
  }
  return json.dump(1) + "\n";
}

}  // namespace duogemm::bench
