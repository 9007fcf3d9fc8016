#include "replay/replay.h"

#include <algorithm>
#include <filesystem>

#include "device/device_selection.h"
#include "problem/precision.h"
#include "references/reference.h"
#include "system/log.h"
#include "system/reject.h"
#include "system/temporary_directory.h"
#include "system/this_process.h"
#include "system/tools.h"

namespace duogemm::bench {
namespace {

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
    if (const std::string why = absence_of(*request.against); !why.empty()) {
      reject("--against " + *request.against + ": " + why);
    }
    if (through == CallMemory::host && !works_on_host(*request.against)) {
      reject("--against " + *request.against + ": only " + join(titles_on_host()) +
             " work on the host's memory");
    }
    return *request.against;
  }
  const bool on_host = through == CallMemory::host || info.kind == DeviceKind::cpu;
  for (const std::string& title : on_host                  ? titles_on_host()
                                  : info.backend == "cuda" ? std::vector<std::string>{"cuBLAS"}
                                                           : std::vector<std::string>{"CLBlast"}) {
    if (absence_of(title).empty()) {
      return title;
    }
  }
  return "";
}

// The library works on the device itself, or on the same GPU through the other runtime.
ChosenDevice device_of(const std::string& title, const ChosenDevice& ours) {
  const std::string backend = works_on_host(title) ? std::string(ours.backend->name())
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

// Runs this program in a process of its own, on the device. Libraries and drivers keep in the folder what
// they keep from one process to the next.
ToolResult run_self(std::vector<std::string> arguments, const ChosenDevice& device,
                    const TemporaryDirectory& folder) {
  std::ranges::copy(flags_of(device), std::back_inserter(arguments));
  std::vector<std::string> environment = {"DUOGEMM_RECORD="};
  for (const auto& [variable, name] : {std::pair("DUOGEMM_CACHE_DIR=", "duogemm"),
                                       {"POCL_CACHE_DIR=", "pocl"},
                                       {"CUDA_CACHE_PATH=", "cuda"}}) {
    std::filesystem::create_directories(folder.path() / name);
    environment.push_back(variable + (folder.path() / name).string());
  }
  return run_tool(program_file(), arguments, ToolErrors::show, environment);
}

PassResult start_pass(const PassRequest& request, const TemporaryDirectory& folder) {
  const Subject& subject = request.subject;
  std::vector<std::string> arguments = {"replay",    request.file,
                                        "--pass",    subject.title,
                                        "--kind",    pass_words[static_cast<int>(request.kind)],
                                        "--through", name_of(subject.through)};
  if (subject.precision) {
    arguments.insert(arguments.end(), {"--precision", to_text(*subject.precision)});
  }
  const ToolResult result = run_self(arguments, subject.device, folder);
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  if (json.is_object() && json.contains("error")) {
    throw Error(static_cast<Status>(json.at("status").get<int>()), json.at("error").get<std::string>());
  }
  if (result.status != 0 || !json.is_object()) {
    throw Error(Status::device_error, "a pass of " + request.file + " by " + subject.title +
                                          " ended with status " + std::to_string(result.status));
  }
  return json.get<PassResult>();
}

TraceReport prepare(const ReplayRequest& request, const std::string& file) {
  TraceReport report;
  report.file = file;
  report.trace = load_trace(file);
  if (report.trace.breaks_off) {
    warn_line(file + ": its last line breaks off, and is left out");
  }
  report.through = choose_memory(request, report.trace, file);
  report.against = choose_library(request, report.through);
  if (!report.against.empty()) {
    device_of(report.against, request.device);
  }
  require_memory(report.trace, request.device.info(), report.through);
  return report;
}

// all_programs: a folder with all programs of the device, where they are asked for.
void replay_ours(TraceReport& report, const ReplayRequest& request, Progress& progress,
                 const TemporaryDirectory& all_programs) {
  const TemporaryDirectory folder;
  const Subject ours{"duogemm", request.device, report.through, request.precision};
  progress.show(report.trace.name + ": duogemm, nothing on disk");
  report.ours.first.push_back(start_pass({report.file, ours, PassKind::first}, folder));
  progress.show(report.trace.name + ": duogemm, programs on disk");
  report.ours.disk.push_back(start_pass({report.file, ours, PassKind::whole}, folder));
  if (request.warmed) {
    progress.show(report.trace.name + ": duogemm, warmed");
    report.ours.warmed.push_back(start_pass({report.file, ours, PassKind::warmed}, all_programs));
  }
}

void replay_other(TraceReport& report, const ReplayRequest& request, Progress& progress) {
  progress.show(report.trace.name + ": " + report.against);
  const Subject other{report.against, device_of(report.against, request.device), report.through, {}};
  Performance& performance = report.other ? *report.other : report.other.emplace();
  try {
    performance.first.push_back(start_pass({report.file, other, PassKind::whole}, TemporaryDirectory()));
  } catch (const Error& error) {
    report.unavailable = error.what();
  }
  if (const std::string fault = performance.fault(); !fault.empty()) {
    report.unavailable = "its result is wrong: " + fault;
  }
  if (!report.unavailable.empty()) {
    report.other.reset();
  }
}

}  // namespace

const char* name_of(CallMemory memory) { return memory == CallMemory::host ? "host" : "device"; }

std::string Performance::fault() const {
  const auto found =
      std::ranges::find_if(whole(), [](const PassResult& pass) { return !pass.fault.empty(); });
  return found == whole().end() ? "" : found->fault;
}

std::vector<double> Performance::call_s() const {
  std::vector<double> least = whole().front().call_s;
  for (const PassResult& pass : whole()) {
    std::ranges::transform(least, pass.call_s, least.begin(), std::ranges::min);
  }
  return least;
}

bool ReplayReport::ok() const {
  return std::ranges::all_of(traces, [](const TraceReport& trace) { return trace.ours.fault().empty(); });
}

ReplayReport run_replay(const ReplayRequest& request, Progress& progress,
                        const std::function<void(const ReplayReport&)>& after_trace) {
  const TemporaryDirectory all_programs;
  if (request.warmed) {
    progress.show("compiling all programs of the device");
    if (run_self({"warm"}, request.device, all_programs).status != 0) {
      throw Error(Status::build_failed, "the device's programs could not be compiled");
    }
  }
  std::vector<TraceReport> prepared;
  for (const std::string& file : request.files) {
    prepared.push_back(prepare(request, file));
  }
  ReplayReport report;
  report.device = request.device.info();
  report.precision = request.precision;
  report.gpu_before = query_gpu(report.device.pci_bus);
  for (TraceReport& trace : prepared) {
    for (std::size_t i = 0; i < request.repeats; ++i) {
      replay_ours(trace, request, progress, all_programs);
      if (!trace.against.empty() && trace.unavailable.empty()) {
        replay_other(trace, request, progress);
      }
    }
    report.traces.push_back(std::move(trace));
    report.gpu_after = query_gpu(report.device.pci_bus);
    progress.clear();
    after_trace(report);
  }
  return report;
}

}  // namespace duogemm::bench
