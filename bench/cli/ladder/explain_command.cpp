// duogemm explain: why a kernel is as fast as it is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/options.h"
#include "explain/explain.h"
#include "output/files.h"
#include "support/format.h"
#include "system/files.h"
#include "system/reject.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

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
      std::printf("%s\n", file.c_str());
    }
  }
}

int run(const ExplainFlags& flags) {
  if (!flags.dump.empty() && std::filesystem::exists(flags.dump) &&
      !std::filesystem::is_directory(flags.dump)) {
    reject("--dump " + flags.dump + ": that is a file; give a folder's name");
  }
  // Before a driver is loaded: it must compile, and not take from its cache what it compiled before.
  PoclCache pocl;
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  ExplainRequest request{.settings = parse_settings(flags),
                         .devices = {},
                         .absent = flags.arch,
                         .shape = {},
                         .measure = flags.timing.options(),
                         .cold = flags.timing.cold};
  bool cpu = false;
  if (!request.absent) {
    request.devices = flags.device.choose();
    cpu = request.devices.front().info().kind == DeviceKind::cpu;
  } else if (flags.device.backend == "opencl" || flags.device.device) {
    reject(
        "--arch compiles through cuda for a device that is not there: leave out --device, and --backend "
        "opencl");
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
  write_result(flags.results.json, explain_json(report, request));
  if (!flags.dump.empty()) {
    dump(report, flags.dump);
  }
  return ok ? 0 : 1;
}

}  // namespace

void add_explain_command(Program& program) {
  auto [command, flags] =
      add_command<ExplainFlags>(program, "explain", "Say why a kernel is as fast as it is on a device", run);
  command
      .add_option("--kernel", flags.kernels,
                  "A rung or a kernel's name, with tunables of its own after it: 8,USE_SHUFFLE=1")
      ->delimiter(',');
  command.add_option("--diff", flags.diff, "Several of them side by side, such as 6:7 or 8:8,USE_SHUFFLE=1");
  add_precision(command, flags.precision);
  flags.add_to(command, true, false);
  command
      .add_option(
          "--arch", flags.arch,
          "CUDA: compile for this compute capability (90 for 9.0), without a device, and measure nothing")
      ->check(number_in(30, 999));
  command.add_option("--dump", flags.dump, "Write source, PTX, SASS or assembly to this folder");
}

}  // namespace duogemm::bench
