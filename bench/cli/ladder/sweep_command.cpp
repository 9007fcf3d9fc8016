// duogemm sweep: one kernel over ranges of tunables and sizes.
#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/files.h"
#include "output/plots.h"
#include "output/sweep_output.h"
#include "support/interrupt.h"
#include "support/shapes.h"
#include "system/reject.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

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
    axes.push_back(parse_axis(text));
    for (const std::int64_t value :
         axes.back().is_size() ? axes.back().values : std::vector<std::int64_t>{}) {
      if (value < 1 || value > largest_size) {
        reject("--over " + text + ": sizes are 1 to " + std::to_string(largest_size));
      }
    }
  }
  return axes;
}

// Sizes that no axis decides are those of -m, -n, -k or --size, or take little time.
Shape base_shape(const SweepFlags& flags, const DeviceInfo& device) {
  const std::int64_t usual = device.kind == DeviceKind::cpu ? 256 : 2048;
  const auto pick = [&](const std::optional<std::int64_t>& own) {
    return own ? *own : flags.size.size.value_or(usual);
  };
  return {pick(flags.size.m), pick(flags.size.n), pick(flags.size.k)};
}

SweepRequest make_request(const SweepFlags& flags) {
  const std::vector<Axis> axes = axes_of(flags);
  const Tunables set = flags.tunables.assigned();
  kernel_setting(flags.kernel, set, flags.tunables.switched());  // bad input before there is a device
  const ChosenDevice device = flags.device.choose_compiling().front();
  return {.kernel = flags.kernel,
          .set = set,
          .switches = flags.tunables.switched(),
          .shape = base_shape(flags, device.info()),
          .axes = axes,
          .device = device,
          .measure = flags.timing.options(),
          .cold = flags.timing.cold};
}

int run(const SweepFlags& flags) {
  flags.results.require();
  if (!flags.plot.empty()) {
    require_writable("--plot", flags.plot);
    require_picture_name("--plot", flags.plot);
    require_plotting();
  }
  const SweepRequest request = make_request(flags);
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
  const Json json = sweep_json(report, request);
  flags.results.write(json);
  flags.results.write_csv(sweep_csv(report));
  if (!flags.plot.empty() && !interrupted()) {
    plot_sweep(json.dump(1) + "\n", flags.plot);
  }
  return status_unless_interrupted(report.ok() ? 0 : 1);
}

void add_options(CLI::App& command, SweepFlags& flags) {
  command.add_option("--kernel", flags.kernel, "A rung or a kernel's name")->required();
  command
      .add_option("--over", flags.over,
                  "What to go over, once or twice: a tunable, m, n, k or size, as NAME=FROM:TO:STEP, "
                  "NAME=FROM:TO:xFACTOR or NAME=VALUE,VALUE")
      ->allow_extra_args(false);
  flags.add_to(command, false);
  flags.results.add_csv_to(command);
  command.add_option("--plot", flags.plot, "Draw them: a heat map of two axes, a line of one; .svg or .png");
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  add_command<SweepFlags>(app, action, "sweep", "Time one kernel over ranges of its tunables and of sizes",
                          add_options, run);
}

}  // namespace duogemm::bench
