// Kernels that are timed. duogemm ladder: every rung on one problem, checked. duogemm sweep: one kernel over
// ranges of tunables and sizes. duogemm explain: why a kernel is as fast as it is.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "cli/options.h"
#include "explain/explain.h"
#include "output/files.h"
#include "output/plots.h"
#include "output/reports.h"
#include "support/format.h"
#include "support/interrupt.h"
#include "support/shapes.h"
#include "system/environment.h"
#include "system/files.h"
#include "system/paths.h"
#include "system/reject.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

struct LadderFlags : StudyFlags {
  DeviceOptions device_options;
  bool tutorial = false;
};

// What the compiler says of a kernel that it does not take.
void print_refusal(const Row& row) {
  if (row.is_broken) {
    std::fprintf(stderr, "%s\n", row.missing.c_str());
  }
}

int run(const LadderFlags& flags) {
  LadderRequest request;
  request.settings = ladder_settings(flags.choice);
  if (flags.size.given()) {
    request.shape = flags.size.shape();
  }
  request.devices = flags.device.choose_with_barriers();
  if (flags.choice.kernels.empty() && !request.devices.front().info().ladder_only) {
    request.settings.push_back(planned_setting());
  }
  for (const ChosenDevice& device : request.devices) {
    shrink_to(device.info(), flags.choice, request.settings);
    require_supported(flags.choice, request.settings, device.info());
  }
  request.device_options = flags.device_options;
  request.measure = flags.timing.options();
  request.cold = flags.timing.cold;
  note_interrupts();
  Progress progress;
  std::vector<LadderReport> reports = run_ladder(request, progress);
  if (interrupted()) {
    std::ranges::for_each(reports, &LadderReport::keep_measured);
    std::erase_if(reports, [](const LadderReport& report) {
      return std::ranges::none_of(report.rows, &Row::measured);
    });
  }
  bool ok = true;
  for (const LadderReport& report : reports) {
    std::ranges::for_each(report.rows, print_refusal);
    std::printf("%s%s\n", ladder_text(report, flags.tutorial).c_str(),
                warning_lines(report.warnings(request.measure.noise)).c_str());
    ok = ok && report.ok();
  }
  if (reports.size() == 2 && !interrupted()) {
    std::printf("%s\n", side_by_side_text(reports[0], reports[1]).c_str());
  }
  if (!reports.empty()) {
    flags.results.write(ladder_json(reports, request));
  }
  return status_unless_interrupted(ok ? 0 : 1);
}

struct SweepFlags : StudyFlags {
  std::string kernel;
  std::vector<std::string> over;
  std::string plot;
};

std::vector<Axis> axes_of(const SweepFlags& flags) {
  if (flags.over.empty() || flags.over.size() > 2) {
    reject("give one or two of --over, such as --over WPTM=2:8:x2 --over size=256:1024:256");
  }
  std::vector<Axis> axes;
  for (const std::string& text : flags.over) {
    const Axis& axis = axes.emplace_back(parse_axis(text));
    const auto is_none = [](std::int64_t size) { return size < 1 || size > largest_size; };
    if (axis.is_size() && std::ranges::any_of(axis.values, is_none)) {
      reject("--over " + text + ": sizes are 1 to " + std::to_string(largest_size));
    }
  }
  return axes;
}

int run(const SweepFlags& flags) {
  if (!flags.plot.empty()) {
    require_writable("--plot", flags.plot);
    require_picture_name("--plot", flags.plot);
    require_plotting();
  }
  SweepRequest request;
  request.kernel = flags.kernel;
  request.set = flags.choice.set;
  request.switches = flags.choice.switches;
  request.axes = axes_of(flags);
  request.measure = flags.timing.options();
  request.cold = flags.timing.cold;
  kernel_setting(request.kernel, request.set, request.switches);  // bad input before there is a device
  request.devices = flags.device.choose_with_barriers();
  // Sizes that no axis decides are those of -m, -n, -k or --size, or take little time.
  const bool cpu = request.devices.front().info().kind == DeviceKind::cpu;
  const auto& [m, n, k, size] = flags.size;
  const std::int64_t usual = size.value_or(cpu ? 256 : 2048);
  request.shape = {m.value_or(usual), n.value_or(usual), k.value_or(usual)};
  note_interrupts();
  Progress progress;
  SweepText text;
  const auto print = [&](const std::string& part) {
    progress.clear();
    std::printf("%s", part.c_str());
    std::fflush(stdout);
  };
  const SweepReport report =
      run_sweep(request, progress, [&](const SweepReport& so_far) { print(text.more(so_far)); });
  print(text.end(report) + warning_lines(report.warnings));
  std::ranges::for_each(report.points, print_refusal, &SweepPoint::row);
  const Json json = sweep_json(report, request);
  flags.results.write(json);
  if (!flags.plot.empty() && !interrupted()) {
    plot_sweep(json.dump(1) + "\n", flags.plot);
  }
  return status_unless_interrupted(report.ok() ? 0 : 1);
}

struct ExplainFlags : StudyFlags {
  std::vector<std::string> kernels;
  std::string diff;
  std::optional<Precision> precision;
  std::string dump;
  std::optional<int> arch;
};

// --kernel and --diff name kernels with assignments of their own, such as "8,USE_SHUFFLE=1".
LadderSetting parse_kernel(const std::string& text, const ExplainFlags& flags) {
  const std::vector<std::string> parts = CLI::detail::split(text, ',');
  Tunables set = flags.choice.set;
  for (const auto& [name, value] : parse_assignments({parts.begin() + 1, parts.end()}, text)) {
    set[name] = value;
  }
  LadderSetting setting = kernel_setting(parts.front(), set, flags.choice.switches);
  setting.precision = flags.precision.value_or(Precision::fp32);
  const bool splits = setting.spec->family && !setting.spec->family->multiplies_in(Precision::fp32);
  if (splits && setting.precision == Precision::fp32) {
    reject(parts.front() +
           " multiplies in other arithmetic than FP32: give --precision bf16x6 or --precision f16x3");
  }
  return setting;
}

std::vector<LadderSetting> parse_settings(const ExplainFlags& flags) {
  if (flags.diff.empty() && flags.kernels.empty() && flags.precision) {
    if (!flags.choice.set.empty()) {
      reject("--set: what the library runs has tunables of its own choice; name a kernel by --kernel");
    }
    LadderSetting own_choice = planned_setting();
    own_choice.precision = *flags.precision;
    return {own_choice};
  }
  if (flags.diff.empty() == flags.kernels.empty()) {
    reject("give either --kernel KERNEL, such as --kernel 7, or --diff KERNEL:KERNEL, such as --diff 6:7");
  }
  if (flags.diff.empty()) {
    return {parse_kernel(join(flags.kernels, ","), flags)};
  }
  std::vector<LadderSetting> settings;
  for (const std::string& side : CLI::detail::split(flags.diff, ':')) {
    const LadderSetting setting = parse_kernel(side, flags);
    if (std::ranges::any_of(settings, [&](const LadderSetting& other) {
          return other.spec == setting.spec && other.tunables == setting.tunables;
        })) {
      reject("--diff " + flags.diff + ": " + side + " is there twice");
    }
    settings.push_back(setting);
  }
  if (settings.size() < 2) {
    reject("--diff " + flags.diff +
           ": expected kernels with colons between them, such as 7:8 or 8:8,USE_SHUFFLE=1");
  }
  return settings;
}

void dump(const ExplainReport& report, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Explanation& explanation : report.explanations) {
    std::string name = explanation.device.backend + "_" + explanation.name();
    std::ranges::replace(name, ' ', '_');
    for (const auto& [extension, text] : explanation.artefacts.files) {
      const std::filesystem::path file = folder / (name + "." + extension);
      write_file(file, text);
      std::printf("%s\n", file.string().c_str());
    }
  }
}

int run(const ExplainFlags& flags) {
  if (!flags.dump.empty() && std::filesystem::exists(path_of(flags.dump)) &&
      !std::filesystem::is_directory(path_of(flags.dump))) {
    reject("--dump " + flags.dump + ": that is a file; give a folder's name");
  }
  // Before a driver is loaded: it must compile, and not take from its cache what it compiled before.
  PoclCache pocl;
  set_environment("CUDA_CACHE_DISABLE", "1");
  ExplainRequest request;
  request.settings = parse_settings(flags);
  request.absent = flags.arch;
  request.measure = flags.timing.options();
  request.cold = flags.timing.cold;
  bool cpu = false;
  if (!request.absent) {
    request.devices = flags.device.choose_with_barriers();
    cpu = request.devices.front().info().kind == DeviceKind::cpu;
  } else if ((!flags.device.backend.empty() && flags.device.backend != "cuda") ||
             !flags.device.device.empty()) {
    reject(
        "--arch compiles through cuda for a device that is not there: leave out --device, and any other "
        "--backend");
  }
  request.shape = flags.size.shape_or(cpu ? 512 : 4096);
  Progress progress;
  const ExplainReport report = explain(request, pocl, progress);
  progress.clear();
  std::printf("%s", explain_text(report.explanations).c_str());
  bool ok = true;
  for (const LadderReport& run : report.runs) {
    std::printf("%s", warning_lines(run.warnings(request.measure.noise)).c_str());
    ok = ok && run.ok();
  }
  flags.results.write(explain_json(report, request));
  if (!flags.dump.empty()) {
    dump(report, path_of(flags.dump));
  }
  return ok ? 0 : 1;
}

}  // namespace

void add_ladder_command(Program& program) {
  auto [command, flags] =
      add_command<LadderFlags>(program, "ladder", "Run, check and time the rungs of the SGEMM ladder", run);
  add_kernels(command, flags.choice);
  flags.device.all_with_webgpu = true;
  flags.add_to(command, true);
  add_choice(command, "--cache-config", flags.device_options.cache,
             {{"none", CachePreference::none},
              {"local", CachePreference::local},
              {"l1", CachePreference::l1},
              {"equal", CachePreference::equal}},
             "CUDA: what on-chip memory is preferred for");
  add_choice(command, "--bank-size", flags.device_options.banks,
             {{"4", BankWidth::four_bytes}, {"8", BankWidth::eight_bytes}},
             "CUDA before 13: bytes in a bank of local memory");
  command.add_flag("--tutorial", flags.tutorial, "Show the Tesla K40m's figures of 2014 as a column");
}

void add_sweep_command(Program& program) {
  auto [command, flags] = add_command<SweepFlags>(
      program, "sweep", "Time one kernel over ranges of its tunables and of sizes", run);
  command.add_option("--kernel,--kernels", flags.kernel, "A rung or a kernel's name")->required();
  command
      .add_option("--over", flags.over,
                  "What to go over, once or twice: a tunable, m, n, k or size, as NAME=FROM:TO:STEP, "
                  "NAME=FROM:TO:xFACTOR or NAME=VALUE,VALUE")
      ->allow_extra_args(false);
  flags.add_to(command, false);
  command.add_option("--plot", flags.plot, "Draw them: a heat map of two axes, a line of one; .svg or .png");
}

void add_explain_command(Program& program) {
  auto [command, flags] =
      add_command<ExplainFlags>(program, "explain", "Say why a kernel is as fast as it is on a device", run);
  command
      .add_option("--kernels,--kernel", flags.kernels,
                  "A rung or a kernel's name, with tunables of its own after it: 8,USE_SHUFFLE=1")
      ->delimiter(',');
  command.add_option("--diff", flags.diff, "Several of them side by side, such as 6:7 or 8:8,USE_SHUFFLE=1");
  add_precision(command, flags.precision);
  flags.add_to(command, true);
  command
      .add_option(
          "--arch", flags.arch,
          "CUDA: compile for this compute capability (90 for 9.0), without a device, and measure nothing")
      ->check(number_in(30, 999));
  command.add_option("--dump", flags.dump, "Write source, PTX, SASS, assembly or WGSL to this folder");
}

}  // namespace duogemm::bench
