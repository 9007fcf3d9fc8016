// duogemm warm: compiles what a device may need before a program waits for it.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "cli/commands.h"
#include "cli/options.h"
#include "runtime/warm.h"
#include "support/progress.h"
#include "support/tools.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

struct WarmFlags {
  DeviceFlags device;
  std::size_t jobs = std::max(std::thread::hardware_concurrency(), 1u);
  std::string share;  // of a worker: "2/16" is the second of 16
};

// Programs must be kept somewhere.
void require_cache() {
  const std::filesystem::path folder = cache_directory();
  if (folder.empty()) {
    reject("there is no folder to keep programs in: DUOGEMM_CACHE_DIR is empty, or there is no home");
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || access(folder.c_str(), W_OK | X_OK) != 0) {
    reject("programs cannot be kept in " + folder.string() + ": it is no folder that can be written to");
  }
}

Share parse_share(const std::string& text) {
  Share share;
  const char* end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, share.first);
  const bool numbers = error == std::errc() && slash != end && *slash == '/' &&
                       std::from_chars(slash + 1, end, share.of) == std::from_chars_result{end, std::errc()};
  if (!numbers || share.first < 1 || share.first > share.of) {
    reject("--share " + text + ": expected such as 2/16, for the second of 16");
  }
  --share.first;
  return share;
}

WarmUp warm_here(Device& device, const Share& share) {
  ProgramCache programs(device);
  return warm(device, programs, share);
}

// A worker tells on its standard output what it has done.
int run_worker(const ChosenDevice& chosen, const std::string& share) {
  const std::unique_ptr<Device> device = chosen.backend->open(chosen.index, {});
  const WarmUp done = warm_here(*device, parse_share(share));
  std::printf("%zu %zu\n", done.programs, done.compiled);
  return 0;
}

// A worker says what it has done; nothing where it failed.
std::optional<WarmUp> said_by(const ToolResult& result) {
  WarmUp done;
  const bool ok =
      result.status == 0 && std::sscanf(result.out.c_str(), "%zu %zu", &done.programs, &done.compiled) == 2;
  return ok ? std::optional(done) : std::nullopt;
}

// By processes of this program, because drivers compile but one program of a process at a time.
WarmUp warm_by_workers(const ChosenDevice& chosen, Device& device, std::size_t jobs) {
  const std::optional<std::size_t> before = device.kernels_compiled_by_launches();
  std::vector<ToolResult> results(jobs);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < jobs; ++i) {
      threads.emplace_back([&, i] {
        std::vector<std::string> arguments = flags_of(chosen);
        arguments.insert(arguments.begin(), "warm");
        arguments.insert(arguments.end(), {"--share", std::to_string(i + 1) + "/" + std::to_string(jobs)});
        results[i] = run_tool("/proc/self/exe", arguments, ToolErrors::drop);
      });
    }
  }
  WarmUp sum;
  for (std::size_t i = 0; i < jobs; ++i) {
    // A driver may refuse its device to one of many processes that start at once.
    const std::optional<WarmUp> worker = said_by(results[i]);
    const WarmUp done = worker ? *worker : warm_here(device, {i, jobs});
    sum.programs += done.programs;
    sum.compiled += done.compiled;
  }
  if (before) {  // each worker saw what the others compiled
    sum.compiled = std::min(sum.programs, *device.kernels_compiled_by_launches() - *before);
  }
  return sum;
}

void warm_and_tell(const ChosenDevice& chosen, std::size_t jobs) {
  const std::unique_ptr<Device> device = chosen.backend->open(chosen.index, {});
  const DeviceInfo& info = device->info();
  if (!device->kernels_compiled_by_launches() && info.programs == nullptr) {
    require_cache();
  }
  const auto start = std::chrono::steady_clock::now();
  Progress progress;
  progress.show(info.name + " through " + info.backend + ": compiling");
  jobs = std::min(jobs, preparations_for(info).size());
  const bool alone = info.compiles_concurrently || jobs <= 1;
  const WarmUp done = alone ? warm_here(*device, {}) : warm_by_workers(chosen, *device, jobs);
  progress.clear();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s through %s: %zu programs, %zu compiled, %zu there already, %.1f s\n", info.name.c_str(),
              info.backend.c_str(), done.programs, done.compiled, done.programs - done.compiled,
              seconds.count());
}

int run(const WarmFlags& flags) {
  const std::vector<ChosenDevice> devices = flags.device.choose();
  if (!flags.share.empty()) {
    return run_worker(devices.front(), flags.share);
  }
  for (const ChosenDevice& chosen : devices) {
    warm_and_tell(chosen, flags.jobs);
  }
  return 0;
}

}  // namespace

void add_warm_command(CLI::App& app, Action& action) {
  add_command<WarmFlags>(
      app, action, "warm",
      "Compile the programs that the library may need on a device, before they are waited for",
      [](CLI::App& command, WarmFlags& flags) {
        flags.device.add_to(command, true);
        command
            .add_option("--jobs", flags.jobs,
                        "OpenCL: how many processes compile. Default: one for each core")
            ->check(number_in(1, 1024));
        command.add_option("--share", flags.share)->group("");  // for workers alone
      },
      run);
}

}  // namespace duogemm::bench
