#include <algorithm>
#include <map>
#include <tuple>

#include "output/json.h"
#include "output/table.h"
#include "problem/precision.h"
#include "replay/replay.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t lost_in_text = 5;
constexpr std::size_t lost_in_file = 20;

std::string milliseconds(double seconds) { return format("%.2f", 1e3 * seconds); }
std::string microseconds(double seconds) { return format("%.1f", 1e6 * seconds); }

// A kind of pass: as files and tables have it.
struct PassNames {
  const char* key;
  const char* title;
  std::vector<PassResult> Performance::*passes;
};
constexpr PassNames first_passes[] = {{"first", "first, nothing on disk", &Performance::first},
                                      {"disk", "first, programs on disk", &Performance::disk},
                                      {"warmed", "first, after warm()", &Performance::warmed}};

std::vector<Walk> first_walks(const std::vector<PassResult>& passes) {
  std::vector<Walk> walks;
  std::ranges::transform(passes, std::back_inserter(walks), &PassResult::first);
  return walks;
}

// All walks after the first of a pass.
std::vector<Walk> again(const Performance& performance) {
  std::vector<Walk> walks;
  for (const PassResult& pass : performance.whole()) {
    std::ranges::copy(pass.again, std::back_inserter(walks));
  }
  return walks;
}

// The walk whose wall time is the median.
Walk median(std::vector<Walk> walks) {
  const auto middle = walks.begin() + static_cast<std::ptrdiff_t>(walks.size() / 2);
  std::ranges::nth_element(walks, middle, {}, &Walk::wall_s);
  return *middle;
}

std::string passes_text(const TraceReport& report) {
  Table table{left("who"), left("pass"), "ms", "ratio", "call us", "99% us", "new us", "99% us"};
  // The row has the ratio of wall times where there is another.
  const auto add = [&](const std::string& who, const char* pass, const std::vector<Walk>& walks,
                       const std::vector<Walk>& other = {}) {
    if (walks.empty()) {
      return;
    }
    const Walk walk = median(walks);
    table.add_row({who, pass, milliseconds(walk.wall_s),
                   other.empty() ? "" : format("%.2f", median(other).wall_s / walk.wall_s),
                   microseconds(walk.call_median_s), microseconds(walk.call_p99_s),
                   microseconds(walk.new_median_s), microseconds(walk.new_p99_s)});
  };
  const Performance other = report.other.value_or(Performance());
  for (const PassNames& names : first_passes) {
    add("duogemm", names.title, first_walks(report.ours.*names.passes), first_walks(other.first));
  }
  add(report.against, "first", first_walks(other.first));
  add("duogemm", "again", again(report.ours), again(other));
  add(report.against, "again", again(other));
  return table.text();
}

// Seconds of all executions of calls on which the other was faster. Calls that differ in their scalars alone
// are one, but for a beta that is 0.
struct LostCall {
  std::size_t call;  // the first of them
  std::int64_t times;
  double ours_s;
  double other_s;
};

// Those first that lost the most seconds in the whole trace, at most `most`.
std::vector<LostCall> lost_calls(const TraceReport& report, std::size_t most) {
  if (!report.other) {
    return {};
  }
  const auto key = [](const TraceCall& call) {
    const Problem& p = call.problem;
    return std::tuple(p.m, p.n, p.k, p.a_op, p.b_op, p.lda, p.ldb, p.ldc, p.batch, p.a_stride, p.b_stride,
                      p.c_stride, call.batch, p.beta == 0.0f);
  };
  std::map<decltype(key(report.trace.calls.front())), LostCall> sums;
  std::vector<std::int64_t> times(report.trace.calls.size(), 0);
  for (const TraceStep& step : report.trace.steps) {
    times[step.call] += step.times;
  }
  const std::vector<double> ours_s = report.ours.call_s();
  const std::vector<double> other_s = report.other->call_s();
  for (std::size_t i = 0; i < times.size(); ++i) {
    LostCall& sum = sums.try_emplace(key(report.trace.calls[i]), LostCall{i, 0, 0.0, 0.0}).first->second;
    sum.times += times[i];
    sum.ours_s += ours_s[i];
    sum.other_s += other_s[i];
  }
  std::vector<LostCall> lost;
  for (const auto& [call, sum] : sums) {
    if (sum.ours_s > sum.other_s) {
      lost.push_back(sum);
    }
  }
  std::ranges::stable_sort(lost, {}, [](const LostCall& call) { return call.other_s - call.ours_s; });
  lost.resize(std::min(lost.size(), most));
  return lost;
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
  Table table{left("calls that lost most"), "times", "duogemm us", report.against + " us"};
  for (const LostCall& call : lost) {
    const auto times = static_cast<double>(call.times);
    table.add_row({call_text(report.trace.calls[call.call].problem), std::to_string(call.times),
                   microseconds(call.ours_s / times), microseconds(call.other_s / times)});
  }
  return table.text();
}

Json walks_json(const std::vector<Walk>& walks) {
  const Walk walk = median(walks);
  Json json = {{"wall_s", walk.wall_s},         {"call_median_s", walk.call_median_s},
               {"call_p99_s", walk.call_p99_s}, {"new_median_s", walk.new_median_s},
               {"new_p99_s", walk.new_p99_s},   {"walls_s", Json::array()}};
  for (const Walk& each : walks) {
    json["walls_s"].push_back(each.wall_s);
  }
  return json;
}

Json performance_json(const Performance& performance) {
  Json json = {{"name", performance.whole().back().name}};
  for (const PassNames& names : first_passes) {
    const std::vector<PassResult>& passes = performance.*names.passes;
    if (passes.empty()) {
      continue;
    }
    Json& found = json[names.key] = walks_json(first_walks(passes));
    for (const PassResult& pass : passes) {
      found["contexts_s"].push_back(pass.context_s);
      if (pass.warm_s > 0.0) {
        found["warms_s"].push_back(pass.warm_s);
      }
    }
  }
  const std::string fault = performance.fault();
  json.update({{"again", walks_json(again(performance))},
               {"checked", performance.whole().back().checked},
               {"fault", fault.empty() ? Json(nullptr) : Json(fault)}});
  return json;
}

Json trace_json(const TraceReport& report) {
  Json json = {{"trace", report.trace.name},
               {"about", report.trace.about},
               {"through", name_of(report.through)},
               {"calls", report.trace.call_count()},
               {"different", report.trace.calls.size()},
               {"flops", report.trace.flops()},
               {"ok", report.ours.fault().empty()},
               {"ours", performance_json(report.ours)},
               {"title", report.against},
               {"other", report.other ? performance_json(*report.other) : Json(nullptr)}};
  if (!report.unavailable.empty()) {
    json["unavailable"] = report.unavailable;
  }
  json["lost"] = Json::array();
  for (const LostCall& lost : lost_calls(report, lost_in_file)) {
    const TraceCall& call = report.trace.calls[lost.call];
    Json problem = to_json(call.problem);
    problem["lists"] = call.batch == CallBatch::lists;
    json["lost"].push_back(
        {{"call", problem}, {"times", lost.times}, {"ours_s", lost.ours_s}, {"other_s", lost.other_s}});
  }
  return json;
}

}  // namespace

std::string trace_text(const TraceReport& report, const DeviceInfo& device) {
  const Trace& trace = report.trace;
  std::string text =
      filled(trace.name + " on " + device.name + ", " + device.runtime + ", " +
             (report.through == CallMemory::host ? "plain arrays" : "device memory") + ": " +
             std::to_string(trace.call_count()) + " calls, " + std::to_string(trace.calls.size()) +
             " different, " + format("%.4g GFLOP", 1e-9 * trace.flops()));
  text += passes_text(report);
  std::string contexts = "the runtime's context took, besides, " +
                         milliseconds(report.ours.first.front().context_s) + " ms (duogemm)";
  if (report.other) {
    contexts += " and " + milliseconds(report.other->first.front().context_s) + " ms (" +
                report.other->whole().back().name + ")";
  }
  if (!report.ours.warmed.empty()) {
    contexts += "; warm() " + milliseconds(report.ours.warmed.front().warm_s) + " ms";
  }
  text += filled(contexts) + lost_text(report);
  if (!report.unavailable.empty()) {
    text += filled("without " + report.against + ": " + report.unavailable);
  }
  if (const std::string fault = report.ours.fault(); !fault.empty()) {
    text += "WRONG: " + fault + "\n";
  }
  return text;
}

std::string replay_json(const ReplayReport& report) {
  Json json = dated_head("duogemm.replay/1");
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
