// duogemm explain: why a kernel is as fast as it is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

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
  PrecisionFlag precision;
  std::string dump;
  std::optional<int> arch;
};

// --kernel and --diff name kernels with assignments of their own, such as "8,USE_SHUFFLE=1".
LadderSetting parse_kernel(const std::string& text, const ExplainFlags& flags) {
  std::istringstream parts(text);
  std::string kernel;
  std::getline(parts, kernel, ',');
  Tunables set = flags.tunables.assigned();
  std::vector<std::string> own;
  for (std::string part; std::getline(parts, part, ',');) {
    own.push_back(part);
  }
  for (const auto& [name, value] : parse_assignments(own, text)) {
    set[name] = value;
  }
  LadderSetting setting = kernel_setting(kernel, set, flags.tunables.switched());
  setting.precision = flags.precision.precision();
  const bool splits = setting.spec->family && !setting.spec->family->multiplies_in(Precision::fp32);
  if (splits && setting.precision == Precision::fp32) {
    reject(kernel +
           " multiplies in other arithmetic than FP32: give --precision bf16x6 or --precision f16x3");
  }
  return setting;
}

// The library chooses its kernel itself.
LadderSetting own_choice(const ExplainFlags& flags) {
  if (!flags.tunables.assigned().empty()) {
    reject("--set: what the library runs has tunables of its own choice; name a kernel by --kernel");
  }
  LadderSetting setting = planned_setting();
  setting.precision = flags.precision.precision();
  return setting;
}

std::vector<LadderSetting> parse_settings(const ExplainFlags& flags) {
  if (flags.diff.empty() && flags.kernels.empty() && !flags.precision.name.empty()) {
    return {own_choice(flags)};
  }
  if (flags.diff.empty() == flags.kernels.empty()) {
    reject("give either --kernel KERNEL, such as --kernel 7, or --diff KERNEL:KERNEL, such as --diff 6:7");
  }
  if (flags.diff.empty()) {
    return {parse_kernel(join(flags.kernels, ","), flags)};
  }
  std::vector<LadderSetting> settings;
  std::istringstream sides(flags.diff);
  for (std::string side; std::getline(sides, side, ':');) {
    settings.push_back(parse_kernel(side, flags));
    const auto same = [&](const LadderSetting& other) {
      return other.spec == settings.back().spec && other.tunables == settings.back().tunables;
    };
    if (std::any_of(settings.begin(), settings.end() - 1, same)) {
      reject("--diff " + flags.diff + ": " + side + " is there twice");
    }
  }
  if (settings.size() < 2) {
    reject("--diff " + flags.diff +
           ": expected kernels with colons between them, such as 7:8 or 8:8,USE_SHUFFLE=1");
  }
  return settings;
}

Shape standard_shape(const ExplainFlags& flags, const ExplainRequest& request) {
  if (flags.size.given()) {
    return flags.size.shape();
  }
  const bool cpu = !request.absent && request.devices.front().info().kind == DeviceKind::cpu;
  return cpu ? Shape{512, 512, 512} : Shape{4096, 4096, 4096};
}

ExplainRequest make_request(const ExplainFlags& flags) {
  ExplainRequest request;
  request.settings = parse_settings(flags);
  request.absent = flags.arch;
  if (!request.absent) {
    request.devices = flags.device.choose_compiling();
  } else if (flags.device.backend == "opencl" || flags.device.backend == "cpu" ||
             !flags.device.device.empty()) {
    reject(
        "--arch compiles through cuda for a device that is not there: leave out --device, and --backend "
        "opencl");
  }
  request.shape = standard_shape(flags, request);
  request.measure = flags.timing.options();
  request.cold = flags.timing.cold;
  return request;
}

std::string file_name(const Explanation& e) {
  std::string name = e.device.backend + "_" + e.name();
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

void dump(const ExplainReport& report, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Explanation& explanation : report.explanations) {
    for (const auto& [extension, text] : explanation.artefacts.files) {
      const std::filesystem::path file = folder / (file_name(explanation) + "." + extension);
      write_file(file, text);
      std::printf("%s\n", file.c_str());
    }
  }
}

int run(const ExplainFlags& flags) {
  flags.results.require();
  if (!flags.dump.empty() && std::filesystem::exists(flags.dump) &&
      !std::filesystem::is_directory(flags.dump)) {
    reject("--dump " + flags.dump + ": that is a file; give a folder's name");
  }
  // Before a driver is loaded: it must compile, and not take from its cache what it compiled before.
  PoclCache pocl;
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  const ExplainRequest request = make_request(flags);
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

void add_options(CLI::App& command, ExplainFlags& flags) {
  command
      .add_option("--kernel", flags.kernels,
                  "A rung or a kernel's name, with tunables of its own after it: 8,USE_SHUFFLE=1")
      ->delimiter(',');
  command.add_option("--diff", flags.diff, "Several of them side by side, such as 6:7 or 8:8,USE_SHUFFLE=1");
  flags.precision.add_to(command);
  flags.add_to(command, true);
  command
      .add_option(
          "--arch", flags.arch,
          "CUDA: compile for this compute capability (90 for 9.0), without a device, and measure nothing")
      ->check(number_in(30, 999));
  command.add_option("--dump", flags.dump, "Write source, PTX, SASS or assembly to this folder");
}

}  // namespace

void add_explain_command(CLI::App& app, Action& action) {
  add_command<ExplainFlags>(app, action, "explain", "Say why a kernel is as fast as it is on a device",
                            add_options, run);
}

}  // namespace duogemm::bench
