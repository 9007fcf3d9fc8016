// duogemm replay: the calls of a program again, by this library and by another, from the first call on.
#include <chrono>
#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/files.h"
#include "replay/replay.h"

namespace duogemm::bench {
namespace {

struct ReplayFlags {
  std::vector<std::string> files;
  DeviceFlags device;
  std::string through;
  std::string against;
  PrecisionFlag precision;
  std::size_t repeats = 1;
  ResultFlags results;
  std::string pass;  // whose, in a process that a replay has started
  std::string kind;
  bool warmed = false;
};

// None where nothing was said.
std::optional<Precision> precision_of(const PrecisionFlag& flag) {
  return flag.name.empty() ? std::nullopt : std::optional(flag.precision());
}

std::optional<CallMemory> memory_of(const std::string& word) {
  if (word.empty()) {
    return std::nullopt;
  }
  return word == "host" ? CallMemory::host : CallMemory::device;
}

int run_one_pass(const ReplayFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  const ChosenDevice device = flags.device.choose_compiling().front();
  device.info();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return serve_pass({flags.files.front(),
                     {flags.pass, device, memory_of(flags.through).value_or(CallMemory::device),
                      precision_of(flags.precision), seconds},
                     kind_of(flags.kind)});
}

int run(const ReplayFlags& flags) {
  if (!flags.pass.empty()) {
    return run_one_pass(flags);
  }
  flags.results.require();
  const ChosenDevice device = flags.device.choose_compiling().front();
  std::optional<CallMemory> through = memory_of(flags.through);
  if (!through && device.info().programs != nullptr) {
    through = CallMemory::host;  // the cpu device has no handles to call on
  }
  ReplayRequest request{.files = flags.files,
                        .device = device,
                        .through = through,
                        .precision = precision_of(flags.precision),
                        .against = {},
                        .warmed = flags.warmed,
                        .repeats = flags.repeats};
  if (!flags.against.empty()) {
    request.against = flags.against;
  }
  Progress progress;
  const ReplayReport report = run_replay(request, progress, [&](const ReplayReport& so_far) {
    std::printf("%s\n", trace_text(so_far.traces.back(), so_far.device).c_str());
    std::fflush(stdout);
    write_result(flags.results.json, replay_json(so_far));
  });
  return report.ok() ? 0 : 1;
}

void add_options(CLI::App& command, ReplayFlags& flags) {
  command.add_option("traces", flags.files, "Files that DUOGEMM_RECORD or bench/traces/make.py has written")
      ->required();
  flags.device.add_to(command, false);
  command
      .add_option("--through", flags.through,
                  "Where the matrices are: 'device', or 'host' for plain arrays. Default: where they were")
      ->check(CLI::IsMember({"device", "host"}));
  command
      .add_option(
          "--against", flags.against,
          "The other library, or 'none'. Default: OpenBLAS on the host's memory and on a CPU, cuBLAS through "
          "CUDA, else CLBlast")
      ->transform(CLI::IsMember({"cuBLAS", "cublasLt", "OpenBLAS", "CLBlast", "none"}, CLI::ignore_case));
  flags.precision.add_to(command)->description(
      "What the products of all calls may be computed with, but for those at the level everywhere. Default: "
      "as in the trace");
  command.add_option("--repeat", flags.repeats, "Start all processes so often, in turns, and take medians")
      ->capture_default_str()
      ->check(number_in(1, 100));
  command.add_flag(
      "--warm", flags.warmed,
      "Run also in a process that prepares all programs by duogemm_warm() before its first call");
  flags.results.add_to(command);
  command.add_option("--pass", flags.pass)->group("");  // for the processes that a replay starts
  command.add_option("--kind", flags.kind)->group("");
}

}  // namespace

void add_replay_command(CLI::App& app, Action& action) {
  add_command<ReplayFlags>(app, action, "replay",
                           "Run a program's recorded calls again, versus another library, from the first on",
                           add_options, run);
}

}  // namespace duogemm::bench
