#include "replay/replay.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <tuple>

#include "device/device_selection.h"
#include "problem/precision.h"
#include "replay/operands.h"
#include "support/tools.h"
#include "system/log.h"
#include "system/reject.h"
#include "system/temporary_directory.h"

namespace duogemm::bench {
namespace {

const char* name_of(CallMemory memory) { return memory == CallMemory::host ? "host" : "device"; }

CallMemory choose_memory(const ReplayRequest& request, const Trace& trace, const std::string& file) {
  if (request.through) {
    return *request.through;
  }
  const CallMemory first = trace.calls.front().memory;
  for (const TraceCall& call : trace.calls) {
    if (call.memory != first) {
      reject(file + ": some of its calls were on the host's memory and some on a device's; say --through");
    }
  }
  return first;
}

// Answers the title of the library to compare with; empty when there is none.
std::string choose_library(const ReplayRequest& request, CallMemory through) {
  const DeviceInfo info = request.device.info();
  if (request.against) {
    if (*request.against == "none") {
      return "";
    }
    if (!build_has(*request.against)) {
      reject("--against " + *request.against + ": this build has no such library");
    }
    if (through == CallMemory::host && *request.against != "OpenBLAS") {
      reject("--against " + *request.against + ": only OpenBLAS works on the host's memory");
    }
    return *request.against;
  }
  const bool on_host = through == CallMemory::host || info.kind == DeviceKind::cpu;
  const std::string title = on_host ? "OpenBLAS" : info.backend == "cuda" ? "cuBLAS" : "CLBlast";
  return build_has(title) ? title : "";
}

// The library works on the device itself, or on the same GPU through the other runtime.
ChosenDevice device_of(const std::string& title, const ChosenDevice& ours) {
  const std::string backend = title == "OpenBLAS"  ? std::string(ours.backend->name())
                              : title == "CLBlast" ? "opencl"
                                                   : "cuda";
  if (ours.backend->name() == backend) {
    return ours;
  }
  if (const Backend* other = find_backend(backend)) {
    for (const DeviceInfo& info : other->devices()) {
      if (!info.pci_bus.empty() && info.pci_bus == ours.info().pci_bus) {
        return {other, info.index};
      }
    }
  }
  reject("--against " + title + ": it works through " + backend + ", which does not have the device");
}

// Folders for what libraries and drivers keep from one process to the next.
class Caches {
 public:
  std::vector<std::string> environment() const {
    const std::string folder = folder_.path();
    for (const char* name : {"duogemm", "pocl", "cuda"}) {
      std::filesystem::create_directories(folder_.path() / name);
    }
    return {"DUOGEMM_CACHE_DIR=" + folder + "/duogemm", "POCL_CACHE_DIR=" + folder + "/pocl",
            "CUDA_CACHE_PATH=" + folder + "/cuda", "DUOGEMM_RECORD="};
  }

 private:
  TemporaryDirectory folder_;
};

void fill(const Caches& caches, const ChosenDevice& device) {
  std::vector<std::string> arguments = flags_of(device);
  arguments.insert(arguments.begin(), "warm");
  if (run_tool("/proc/self/exe", arguments, ToolErrors::show, caches.environment()).status != 0) {
    throw Error(Status::build_failed, "the device's programs could not be compiled");
  }
}

// Runs the pass in a process of its own.
PassResult start_pass(const PassRequest& request, const Caches& caches) {
  std::vector<std::string> arguments = flags_of(request.subject.device);
  arguments.insert(arguments.begin(), {"replay", request.file, "--pass", request.subject.title, "--kind",
                                       word_of(request.kind), "--through", name_of(request.subject.through)});
  if (request.subject.precision) {
    arguments.insert(arguments.end(), {"--precision", to_text(*request.subject.precision)});
  }
  const ToolResult result = run_tool("/proc/self/exe", arguments, ToolErrors::show, caches.environment());
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  if (json.is_object() && json.contains("error")) {
    throw Error(static_cast<Status>(json.at("status").get<int>()), json.at("error").get<std::string>());
  }
  if (result.status != 0 || !json.is_object()) {
    throw Error(Status::device_error, "a pass of " + request.file + " by " + request.subject.title +
                                          " ended with status " + std::to_string(result.status));
  }
  return json.get<PassResult>();
}

void add_first(const PassResult& result, Passes& passes) {
  passes.walks.push_back(result.first);
  passes.context_s.push_back(result.context_s);
  if (result.warm_s > 0.0) {
    passes.warm_s.push_back(result.warm_s);
  }
}

// For a pass that went on after the first walk.
void add_rest(const PassResult& result, Performance& performance) {
  performance.name = result.name;
  performance.again.walks.insert(performance.again.walks.end(), result.again.begin(), result.again.end());
  performance.call_s.resize(result.call_s.size(), result.call_s.empty() ? 0.0 : 1e300);
  for (std::size_t i = 0; i < result.call_s.size(); ++i) {
    performance.call_s[i] = std::min(performance.call_s[i], result.call_s[i]);
  }
  performance.checked = result.checked;
  performance.fault = performance.fault.empty() ? result.fault : performance.fault;
}

class Replaying {
 public:
  Replaying(const ReplayRequest& request, Progress& progress) : request_(request), progress_(progress) {
    if (request.warmed) {
      progress.show("compiling all programs of the device");
      warm_caches_.emplace();
      fill(*warm_caches_, request.device);
    }
  }

  TraceReport prepare(const std::string& file) const {
    TraceReport report;
    report.file = file;
    report.trace = load_trace(file);
    if (report.trace.breaks_off) {
      warn_line(file + ": its last line breaks off, and is left out");
    }
    report.through = choose_memory(request_, report.trace, file);
    report.against = choose_library(request_, report.through);
    if (!report.against.empty()) {
      device_of(report.against, request_.device);
    }
    require_memory(report.trace, request_.device.info(), report.through);
    return report;
  }

  void replay(TraceReport& report) const {
    for (std::size_t i = 0; i < request_.repeats; ++i) {
      replay_ours(report);
      if (!report.against.empty() && report.unavailable.empty()) {
        replay_other(report);
      }
    }
  }

 private:
  void replay_ours(TraceReport& report) const {
    const Caches caches;
    const Subject ours{Subject::own_title, request_.device, report.through, request_.precision};
    progress_.show(report.trace.name + ": duogemm, nothing on disk");
    add_first(start_pass({report.file, ours, PassKind::first}, caches), report.ours.first);
    progress_.show(report.trace.name + ": duogemm, programs on disk");
    const PassResult result = start_pass({report.file, ours, PassKind::whole}, caches);
    add_first(result, report.ours.disk);
    add_rest(result, report.ours);
    if (warm_caches_) {
      progress_.show(report.trace.name + ": duogemm, warmed");
      add_first(start_pass({report.file, ours, PassKind::warmed}, *warm_caches_), report.ours.warmed);
    }
  }

  void replay_other(TraceReport& report) const {
    progress_.show(report.trace.name + ": " + report.against);
    const Subject other{report.against, device_of(report.against, request_.device), report.through, {}};
    Performance& performance = report.other ? *report.other : report.other.emplace();
    try {
      const PassResult result = start_pass({report.file, other, PassKind::whole}, Caches());
      add_first(result, performance.first);
      add_rest(result, performance);
    } catch (const Error& error) {
      report.unavailable = error.what();
    }
    if (!performance.fault.empty()) {
      report.unavailable = "its result is wrong: " + performance.fault;
    }
    if (!report.unavailable.empty()) {
      report.other.reset();
    }
  }

  const ReplayRequest& request_;
  Progress& progress_;
  std::optional<Caches> warm_caches_;  // with all programs of the device
};

}  // namespace

const Walk& Passes::median() const {
  std::vector<const Walk*> ordered;
  for (const Walk& walk : walks) {
    ordered.push_back(&walk);
  }
  const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() / 2);
  std::nth_element(ordered.begin(), middle, ordered.end(),
                   [](const Walk* a, const Walk* b) { return a->wall_s < b->wall_s; });
  return **middle;
}

bool ReplayReport::ok() const {
  return std::all_of(traces.begin(), traces.end(), [](const TraceReport& trace) { return trace.ok(); });
}

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
  for (std::size_t i = 0; i < times.size(); ++i) {
    LostCall& sum = sums.try_emplace(key(report.trace.calls[i]), LostCall{i, 0, 0.0, 0.0}).first->second;
    sum.times += times[i];
    sum.ours_s += report.ours.call_s[i];
    sum.other_s += report.other->call_s[i];
  }
  std::vector<LostCall> lost;
  for (const auto& [call, sum] : sums) {
    if (sum.ours_s > sum.other_s) {
      lost.push_back(sum);
    }
  }
  std::stable_sort(lost.begin(), lost.end(), [](const LostCall& a, const LostCall& b) {
    return a.ours_s - a.other_s > b.ours_s - b.other_s;
  });
  lost.resize(std::min(lost.size(), most));
  return lost;
}

ReplayReport run_replay(const ReplayRequest& request, Progress& progress,
                        const std::function<void(const ReplayReport&)>& after_trace) {
  const Replaying replaying(request, progress);
  std::vector<TraceReport> prepared;
  for (const std::string& file : request.files) {
    prepared.push_back(replaying.prepare(file));
  }
  ReplayReport report;
  report.device = request.device.info();
  report.precision = request.precision;
  report.gpu_before = query_gpu(report.device.pci_bus);
  for (TraceReport& trace : prepared) {
    replaying.replay(trace);
    report.traces.push_back(std::move(trace));
    report.gpu_after = query_gpu(report.device.pci_bus);
    progress.clear();
    after_trace(report);
  }
  return report;
}

int serve_pass(const PassRequest& request) {
  nlohmann::json json;
  try {
    Trace trace = load_trace(request.file);
    if (request.subject.precision) {
      trace.permit(*request.subject.precision);
    }
    json = run_pass(trace, request.subject, request.kind);
  } catch (const Error& error) {
    json = {{"error", error.what()}, {"status", static_cast<int>(error.status())}};
  }
  std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace duogemm::bench
