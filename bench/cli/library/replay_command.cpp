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
  ReplayRequest request;
  DeviceFlags device;
  ResultFlags results;
  std::string pass;  // whose, in a process that a replay has started
  std::string kind;
};

int run(const ReplayFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  ReplayRequest request = flags.request;
  request.device = flags.device.choose().front();
  if (!flags.pass.empty()) {
    request.device.info();
    const std::chrono::duration<double> choosing = std::chrono::steady_clock::now() - start;
    return serve_pass({request.files.front(),
                       {flags.pass, request.device, request.through.value_or(CallMemory::device),
                        request.precision, choosing.count()},
                       kind_of(flags.kind)});
  }
  Progress progress;
  const ReplayReport report = run_replay(request, progress, [&](const ReplayReport& so_far) {
    std::printf("%s\n", trace_text(so_far.traces.back(), so_far.device).c_str());
    std::fflush(stdout);
    write_result(flags.results.json, replay_json(so_far));
  });
  return report.ok() ? 0 : 1;
}

}  // namespace

void add_replay_command(Program& program) {
  auto [command, flags] = add_command<ReplayFlags>(
      program, "replay", "Run a program's recorded calls again, versus another library, from the first on",
      run);
  ReplayRequest& request = flags.request;
  command
      .add_option("traces", request.files, "Files that DUOGEMM_RECORD or bench/traces/make.py has written")
      ->required();
  flags.device.add_to(command);
  command
      .add_option_function<std::string>(
          "--through",
          [&request](const std::string& memory) {
            request.through = memory == "host" ? CallMemory::host : CallMemory::device;
          },
          "Where the matrices are: 'device', or 'host' for plain arrays. Default: where they were")
      ->check(CLI::IsMember({"device", "host"}));
  command
      .add_option(
          "--against", request.against,
          "The other library, or 'none'. Default: OpenBLAS on the host's memory and on a CPU, cuBLAS through "
          "CUDA, else CLBlast")
      ->transform(CLI::IsMember({"cuBLAS", "cublasLt", "OpenBLAS", "CLBlast", "none"}, CLI::ignore_case));
  add_precision(command, request.precision)
      ->description(
          "What the products of all calls may be computed with, but for those at the level everywhere. "
          "Default: as in the trace");
  command.add_option("--repeat", request.repeats, "Start all processes so often, in turns, and take medians")
      ->capture_default_str()
      ->check(number_in(1, 100));
  command.add_flag(
      "--warm", request.warmed,
      "Run also in a process that prepares all programs by duogemm_warm() before its first call");
  flags.results.add_to(command);
  command.add_option("--pass", flags.pass)->group("");  // for the processes that a replay starts
  command.add_option("--kind", flags.kind)->group("");
}

}  // namespace duogemm::bench
