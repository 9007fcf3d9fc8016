// What makes a device ready. duogemm tune: searches for the fastest settings of the production kernels on it,
// and keeps them. duogemm warm: compiles what it may need before a program waits for it.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "cli/commands.h"
#include "cli/options.h"
#include "device/device_selection.h"
#include "duogemm/version.h"
#include "machine/gpu_watch.h"
#include "output/files.h"
#include "runtime/runtime.h"
#include "support/format.h"
#include "support/interrupt.h"
#include "support/progress.h"
#include "system/date.h"
#include "system/files.h"
#include "system/paths.h"
#include "system/reject.h"
#include "system/this_process.h"
#include "system/tools.h"
#include "timing/timing_warnings.h"
#include "tune/tuner.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

struct TuneFlags {
  DeviceFlags device;
  std::string budget = "5m";
  std::string out;
  bool resume = true;
  TuneOptions options;
  std::vector<std::string> from;
  std::vector<std::string> shapes;
  std::vector<std::string> held_out;
  std::optional<Precision> precision;
  ResultFlags results;
};

// "90s", "5m", "1.5h", or a number of seconds.
double parse_duration(const std::string& text) {
  constexpr double longest = 7 * 24 * 3600.0;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end + std::strspn(end, " ");
  const double factor = unit.empty() || unit == "s" ? 1.0 : unit == "m" ? 60.0 : unit == "h" ? 3600.0 : 0.0;
  const double seconds = value * factor;
  if (!(seconds > 0.0) || seconds > longest) {
    reject("--budget " + text + ": expected a time such as 90s, 5m or 2h, up to 168h");
  }
  return seconds;
}

// Makes the folder, which the variable may name, where it is not there. Throws invalid_argument where nothing
// can be kept in it.
void require_folder(const fs::path& folder, const std::string& what, const std::string& variable) {
  if (folder.empty()) {
    reject("there is no folder to keep " + what + " in: " + variable + " is empty, or there is no home");
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || !may_write(folder)) {
    reject(what + " cannot be kept in " + folder.string() + ": it is no folder that can be written to; " +
           variable + " names another");
  }
}

// The planner will look for it there.
std::string default_file(const DeviceInfo& info) {
  const fs::path folder = tuning_directory();
  require_folder(folder, "tunings", "DUOGEMM_TUNING_DIR");
  std::string name = info.backend + "_" + info.name + ".json";
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '_');
  return (folder / name).string();
}

Tuning read_tuning(const std::string& path) { return parse_tuning(read_file_or_reject(path_of(path)), path); }

std::string today() { return utc_time().substr(0, std::string_view("2026-01-31").size()); }

std::string clock_text(const DeviceInfo& info) {
  const auto state = query_gpu(info.pci_bus);
  return state ? std::to_string(state->sm_mhz) + " MHz" : "unknown clock";
}

std::vector<NamedShape> load(const std::vector<std::string>& names, Precision precision) {
  std::vector<NamedShape> shapes;
  for (const std::string& name : names) {
    for (NamedShape& shape : load_shapes(name).shapes) {
      shape.problem.precision = precision;
      shapes.push_back(std::move(shape));
    }
  }
  return shapes;
}

// A search, and what is written of it.
struct Search {
  const DeviceInfo info;
  const std::string out;
  const std::string partial;  // no planner looks there
  const TuningTarget target;  // of the file
  const std::string clock_before;
  const std::vector<NamedShape> held_out;
  const Tuning before;
  const Planner& planner_before;
  Tuner& tuner;
  TuneReport report;

  Tuning result() const {
    Tuning found = tuner.result();
    found.target = target;
    found.evidence = today() + ", duogemm " DUOGEMM_VERSION ", " + info.name + ", driver " + info.driver +
                     ", " + info.runtime + ", " + clock_before + " before and " + clock_text(info) +
                     " after, " + std::to_string(tuner.counts().timed) + " settings timed in " +
                     format("%.0f s", report.budget) + ", seed " + std::to_string(report.seed);
    return found;
  }

  void checkpoint() const {
    const Tuning found = result();
    const TuneCounts& counts = tuner.counts();
    write_file(path_of(partial), to_json(found));
    std::printf("%5.0f s left: %zu proposed, %zu refused, %zu wrong, %zu timed, %zu best, %zu kept\n",
                std::max(tuner.seconds_left(), 0.0), counts.proposed, counts.refused, counts.wrong,
                counts.timed, counts.improved, found.calibrations.size());
    std::fflush(stdout);
  }

  // Writes what is better than what there was.
  void conclude() {
    const Tuning found = result();
    report.compared = tuner.compare(planner_before, Planner(info, found));
    if (interrupted()) {
      return;
    }
    std::printf("%s", comparison_text(report.compared, "before and after").c_str());
    const auto kept = worth_writing(before, found, report.compared.timed);
    report.written = kept.has_value();
    if (kept) {
      write_file(path_of(out), to_json(*kept));
      std::printf(
          "%s",
          filled(out + ": what is faster than before, or as fast with fewer settings, is written").c_str());
    } else {
      std::printf("%s",
                  filled("Nothing is written to " + out + ": what was found is no better than what there is")
                      .c_str());
    }
    fs::remove(path_of(partial));
    if (!held_out.empty()) {
      report.held_out =
          tuner.compare_on(held_out, Planner(info, before), Planner(info, kept.value_or(before)));
      std::printf("%s", comparison_text(report.held_out, "held out").c_str());
    }
  }

  int run() {
    std::printf("%s", filled(info.name + " through " + info.runtime +
                             format(", for %.0f s, for ", report.budget) + out)
                          .c_str());
    if (const auto warning = busy_warning()) {
      report.warnings.push_back(*warning);
      std::printf("%s", warning_lines(report.warnings).c_str());
    }
    tuner.search([&] { checkpoint(); });
    tuner.finish();
    checkpoint();
    std::printf("%s", tuner.summary().c_str());
    if (!interrupted()) {
      conclude();
    }
    if (fs::exists(path_of(partial))) {  // interrupted before anything was decided
      std::printf("%s", filled(out + " is left as it was; a search into it goes on from " + partial).c_str());
    }
    report.counts = tuner.counts();
    return status_unless_interrupted(report.counts.wrong == 0 ? 0 : 1);
  }
};

int run(const TuneFlags& flags) {
  TuneOptions options = flags.options;
  options.budget = parse_duration(flags.budget);
  options.precision = flags.precision.value_or(Precision::fp32);
  if (options.precision != Precision::fp32 && !flags.shapes.empty()) {
    reject("--shapes: the best for single shapes is kept for fp32 alone");
  }
  options.shapes = load(flags.shapes, options.precision);
  std::vector<Tuning> known;
  std::ranges::transform(flags.from, std::back_inserter(known), read_tuning);
  if (!flags.out.empty()) {
    require_writable("--out", flags.out);
  }
  const ChosenDevice chosen = flags.device.choose().front();
  const DeviceInfo info = chosen.info();
  const bool on_cpu = info.kind == DeviceKind::cpu;
  std::vector<std::string> judging = shipped_shapes();  // those that are of such a device
  std::erase_if(judging, [&](const std::string& name) { return (name == "cpu") != on_cpu; });
  options.judges = load(judging, options.precision);
  constexpr std::size_t judging_drawn = 600;
  constexpr std::size_t deciding = 300;
  std::ranges::move(random_shapes(2 * options.seed, judging_drawn, options.precision),
                    std::back_inserter(options.judges));
  options.fresh = random_shapes(2 * options.seed + 1, deciding, options.precision);
  const std::string out = flags.out.empty() ? default_file(info) : flags.out;
  const std::string partial = out + ".partial";
  require_writable("--out", out);
  const bool goes_on = flags.resume && fs::is_regular_file(path_of(out));
  if (flags.resume && fs::is_regular_file(path_of(partial))) {
    known.push_back(read_tuning(partial));
  }
  known.push_back(tuning_or_analytic(info));
  const Tuning before = goes_on ? read_tuning(out) : tuning_or_analytic(info);
  if (goes_on && !applies_to(before.target, info)) {
    reject("--out " + out + ": this file is of another device than " + info.name);
  }
  const TuningTarget target =
      goes_on ? before.target : TuningTarget{info.backend, kind_name(info.kind), info.name};
  Tuning base = before;
  if (!flags.resume) {  // kernels of the precision that is searched
    std::erase_if(base.calibrations, [&](const Calibration& each) {
      return each.spec->family->multiplies_in(Precision::fp32) == (options.precision == Precision::fp32);
    });
    base.shapes.clear();
  }
  const Planner planner(info, before);
  const std::vector<NamedShape> held_out = load(flags.held_out, options.precision);
  const std::string clock_before = clock_text(info);
  const std::unique_ptr<Device> device = chosen.backend->open(chosen.index, {});
  Tuner tuner(*device, options, base, known, interrupted());
  TuneReport report;
  report.device = info;
  report.budget = options.budget;
  report.seed = options.seed;
  report.precision = options.precision;
  note_interrupts();
  Search search{info, out, partial, target, clock_before, held_out, before, planner, tuner, report};
  const int status = search.run();
  flags.results.write(to_json(search.report));
  return status;
}

struct WarmFlags {
  DeviceFlags device;
  std::size_t jobs = std::max(std::thread::hardware_concurrency(), 1u);
  std::string share;  // of a worker: "2/16" is the second of 16
};

Share parse_share(const std::string& text) {
  Share share;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || !read_number(text.substr(0, slash), share.first) ||
      !read_number(text.substr(slash + 1), share.of) || share.first < 1 || share.first > share.of) {
    reject("--share " + text + ": expected such as 2/16, for the second of 16");
  }
  --share.first;
  return share;
}

WarmUp warm_here(Device& device, const Share& share) {
  ProgramCache programs(device);
  return warm(device, programs, share);
}

// By processes of this program, because drivers compile but one program of a process at a time.
WarmUp warm_by_workers(const ChosenDevice& chosen, Device& device, std::size_t jobs) {
  const std::optional<std::size_t> before = device.kernels_compiled_by_launches();
  std::vector<std::future<ToolResult>> workers;
  for (std::size_t i = 0; i < jobs; ++i) {
    std::vector<std::string> arguments = flags_of(chosen);
    arguments.insert(arguments.begin(), "warm");
    arguments.insert(arguments.end(), {"--share", std::to_string(i + 1) + "/" + std::to_string(jobs)});
    workers.push_back(std::async(std::launch::async, run_tool, program_file(), arguments, ToolErrors::drop,
                                 std::vector<std::string>()));
  }
  for (const std::future<ToolResult>& worker : workers) {
    worker.wait();
  }
  WarmUp sum;
  for (std::size_t i = 0; i < jobs; ++i) {
    const ToolResult said = workers[i].get();
    WarmUp done;
    if (said.status != 0 || std::sscanf(said.out.c_str(), "%zu %zu", &done.programs, &done.compiled) != 2) {
      // A driver may refuse its device to one of many processes that start at once.
      done = warm_here(device, {i, jobs});
    }
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
    require_folder(cache_directory(), "programs", "DUOGEMM_CACHE_DIR");
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
  if (flags.share.empty()) {
    for (const ChosenDevice& chosen : devices) {
      warm_and_tell(chosen, flags.jobs);
    }
    return 0;
  }
  // A worker tells on its standard output what it has done.
  const std::unique_ptr<Device> device = devices.front().backend->open(devices.front().index, {});
  const WarmUp done = warm_here(*device, parse_share(flags.share));
  std::printf("%zu %zu\n", done.programs, done.compiled);
  return 0;
}

}  // namespace

void add_tune_command(Program& program) {
  auto [command, flags] = add_command<TuneFlags>(
      program, "tune", "Search for the fastest settings of the library's kernels on a device, and keep them",
      run);
  flags.options.threads = std::max(std::thread::hardware_concurrency(), 2u) - 1;
  flags.device.add_to(command);
  command.add_option("--shapes", flags.shapes,
                     "Lists of shapes, files or names: also keep what is best for each of them");
  command.add_option("--held-out", flags.held_out,
                     "Lists of shapes to time before and after on, at the end and besides the budget: "
                     "nothing is decided by them");
  command.add_option("--budget", flags.budget, "How long, such as 90s, 5m or 2h")->capture_default_str();
  command.add_option("--out", flags.out,
                     "The file to write. Default: one in the folder where the library looks for tunings");
  command.add_flag("--resume,!--no-resume", flags.resume,
                   "Whether to begin with what the file holds already. Default: yes");
  command.add_option("--from", flags.from,
                     "Begin with the kernels of these files too, such as one from the other runtime");
  command.add_option("--threads", flags.options.threads, "Threads that compile. Default: all cores but one")
      ->check(number_in(1, 1024));
  command.add_option("--seed", flags.options.seed, "Of the random numbers");
  add_precision(command, flags.precision)->description("Whose kernels to search. Default: fp32");
  flags.results.add_to(command);
  command
      .add_option("--ops", flags.options.ops,
                  "Only operands stored so: NN, NT, TN, TT; T for transposed. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember({"NN", "NT", "TN", "TT"}));
}

void add_warm_command(Program& program) {
  auto [command, flags] = add_command<WarmFlags>(
      program, "warm",
      "Compile the programs that the library may need on a device, before they are waited for", run);
  flags.device.add_to(command, true);
  command.add_option("--jobs", flags.jobs, "OpenCL: how many processes compile. Default: one for each core")
      ->check(number_in(1, 1024));
  command.add_option("--share", flags.share)->group("");  // for workers alone
}

}  // namespace duogemm::bench
