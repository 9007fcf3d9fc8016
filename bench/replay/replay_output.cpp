#include "output/json.h"
#include "output/table.h"
#include "problem/precision.h"
#include "replay/replay.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

constexpr const char* schema = "duogemm.replay/1";
constexpr std::size_t lost_in_text = 5;
constexpr std::size_t lost_in_file = 20;

std::string milliseconds(double seconds) { return format("%.2f", 1e3 * seconds); }
std::string microseconds(double seconds) { return format("%.1f", 1e6 * seconds); }

// A kind of pass: as files and tables have it.
struct PassNames {
  const char* key;
  const char* title;
  Passes Performance::*passes;
};
constexpr PassNames first_passes[] = {{"first", "first, nothing on disk", &Performance::first},
                                      {"disk", "first, programs on disk", &Performance::disk},
                                      {"warmed", "first, after warm()", &Performance::warmed}};

// The row has the ratio of wall times where there is another.
void add_pass(Table& table, const std::string& who, const char* pass, const Passes& passes,
              const Passes* other) {
  if (passes.walks.empty()) {
    return;
  }
  const Walk& walk = passes.median();
  table.add_row({who, pass, milliseconds(walk.wall_s),
                 other == nullptr ? "" : format("%.2f", other->median().wall_s / walk.wall_s),
                 microseconds(walk.call_median_s), microseconds(walk.call_p99_s),
                 microseconds(walk.new_median_s), microseconds(walk.new_p99_s)});
}

std::string passes_text(const TraceReport& report) {
  Table table;
  table.add_column("who", Table::Align::left);
  table.add_column("pass", Table::Align::left);
  for (const char* title : {"ms", "ratio", "call us", "99% us", "new us", "99% us"}) {
    table.add_column(title);
  }
  const Performance none;
  const Performance& other = report.other ? *report.other : none;
  for (const PassNames& names : first_passes) {
    add_pass(table, "duogemm", names.title, report.ours.*names.passes, report.other ? &other.first : nullptr);
  }
  add_pass(table, report.against, "first", other.first, nullptr);
  add_pass(table, "duogemm", "again", report.ours.again, report.other ? &other.again : nullptr);
  add_pass(table, report.against, "again", other.again, nullptr);
  return table.text();
}

// "512 x 64 x 8 TN batch 4 alpha 1 beta 0"
std::string call_text(const Problem& p) {
  std::string text =
      std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + " " + ops_of(p);
  if (p.batch > 1) {
    text.append(" batch ").append(std::to_string(p.batch));
  }
  return text + format(" alpha %g", p.alpha) + format(" beta %g", p.beta);
}

std::string lost_text(const TraceReport& report) {
  const std::vector<LostCall> lost = lost_calls(report, lost_in_text);
  if (lost.empty()) {
    return "";
  }
  Table table;
  table.add_column("calls that lost most", Table::Align::left);
  table.add_column("times");
  table.add_column("duogemm us");
  table.add_column(report.against + " us");
  for (const LostCall& call : lost) {
    const auto times = static_cast<double>(call.times);
    table.add_row({call_text(report.trace.calls[call.call].problem), std::to_string(call.times),
                   microseconds(call.ours_s / times), microseconds(call.other_s / times)});
  }
  return table.text();
}

double first_context_s(const Passes& passes) { return passes.context_s.front(); }

Json passes_json(const Passes& passes) {
  const Walk& walk = passes.median();
  Json json = {{"wall_s", walk.wall_s},         {"call_median_s", walk.call_median_s},
               {"call_p99_s", walk.call_p99_s}, {"new_median_s", walk.new_median_s},
               {"new_p99_s", walk.new_p99_s},   {"walls_s", Json::array()}};
  for (const Walk& each : passes.walks) {
    json["walls_s"].push_back(each.wall_s);
  }
  if (!passes.context_s.empty()) {
    json["contexts_s"] = passes.context_s;
  }
  if (!passes.warm_s.empty()) {
    json["warms_s"] = passes.warm_s;
  }
  return json;
}

Json performance_json(const Performance& performance) {
  Json json = {{"name", performance.name}};
  for (const PassNames& names : first_passes) {
    if (const Passes& passes = performance.*names.passes; !passes.walks.empty()) {
      json[names.key] = passes_json(passes);
    }
  }
  json.update({{"again", passes_json(performance.again)},
               {"checked", performance.checked},
               {"fault", performance.fault.empty() ? Json(nullptr) : Json(performance.fault)}});
  return json;
}

Json call_json(const TraceCall& call) {
  Json json = to_json(call.problem);
  json["lists"] = call.batch == CallBatch::lists;
  return json;
}

Json trace_json(const TraceReport& report) {
  Json json = {{"trace", report.trace.name},
               {"about", report.trace.about},
               {"through", report.through == CallMemory::host ? "host" : "device"},
               {"calls", report.trace.call_count()},
               {"different", report.trace.calls.size()},
               {"flops", report.trace.flops()},
               {"ok", report.ok()},
               {"ours", performance_json(report.ours)},
               {"title", report.against},
               {"other", report.other ? performance_json(*report.other) : Json(nullptr)}};
  if (!report.unavailable.empty()) {
    json["unavailable"] = report.unavailable;
  }
  json["lost"] = Json::array();
  for (const LostCall& lost : lost_calls(report, lost_in_file)) {
    json["lost"].push_back({{"call", call_json(report.trace.calls[lost.call])},
                            {"times", lost.times},
                            {"ours_s", lost.ours_s},
                            {"other_s", lost.other_s}});
  }
  return json;
}

}  // namespace

std::string trace_text(const TraceReport& report, const DeviceInfo& device) {
  const Trace& trace = report.trace;
  std::string text = trace.name + " on " + device.name + ", " + device.runtime + ", " +
                     (report.through == CallMemory::host ? "plain arrays" : "device memory") + ": " +
                     std::to_string(trace.call_count()) + " calls, " + std::to_string(trace.calls.size()) +
                     " different, " + format("%.4g GFLOP\n", 1e-9 * trace.flops());
  text += passes_text(report);
  text += "the runtime's context took, besides, " + milliseconds(first_context_s(report.ours.first)) +
          " ms (duogemm)";
  if (report.other) {
    text += " and " + milliseconds(first_context_s(report.other->first)) + " ms (" + report.other->name + ")";
  }
  if (!report.ours.warmed.warm_s.empty()) {
    text += "; warm() " + milliseconds(report.ours.warmed.warm_s.front()) + " ms";
  }
  text.append("\n").append(lost_text(report));
  if (!report.unavailable.empty()) {
    text += "without " + report.against + ": " + report.unavailable + "\n";
  }
  if (!report.ok()) {
    text += "WRONG: " + report.ours.fault + "\n";
  }
  return text;
}

std::string replay_json(const ReplayReport& report) {
  Json json = dated_head(schema);
  json.update({{"device", to_json(report.device)},
               {"gpu_before", to_json(report.gpu_before)},
               {"gpu_after", to_json(report.gpu_after)},
               {"precision", report.precision ? Json(to_text(*report.precision)) : Json(nullptr)},
               {"traces", Json::array()}});
  for (const TraceReport& trace : report.traces) {
    json["traces"].push_back(trace_json(trace));
  }
  return json.dump(1) + "\n";
}

}  // namespace duogemm::bench
