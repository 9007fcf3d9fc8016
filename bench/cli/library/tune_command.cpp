// duogemm tune: searches for the fastest settings of the production kernels on a device, and keeps them.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>

#include "cli/commands.h"
#include "cli/options.h"
#include "device/device_selection.h"
#include "duogemm/version.h"
#include "machine/gpu_watch.h"
#include "output/files.h"
#include "support/interrupt.h"
#include "system/files.h"
#include "system/reject.h"
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

// The planner will look for it there.
std::string default_file(const DeviceInfo& info) {
  const fs::path folder = tuning_directory();
  if (folder.empty()) {
    reject("--out is missing: DUOGEMM_TUNING_DIR is empty, so there is no folder for tunings");
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::string name = info.backend + "_" + info.name + ".json";
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '_');
  return folder / name;
}

Tuning read_tuning(const std::string& path) { return parse_tuning(read_file_or_reject(path), path); }

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

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

class Session {
 public:
  Session(const TuneFlags& flags, const ChosenDevice& chosen, const TuneOptions& options,
          std::vector<Tuning> known)
      : flags_(flags),
        info_(chosen.info()),
        out_(flags.out.empty() ? default_file(info_) : flags.out),
        partial_(out_ + ".partial"),
        held_out_(load(flags.held_out, options.precision)),
        clock_before_(clock_text(info_)),
        device_(chosen.backend->open(chosen.index, {})) {
    require_writable("--out", out_);
    report_.device = info_;
    report_.budget = options.budget;
    report_.seed = options.seed;
    report_.precision = options.precision;
    const bool goes_on = flags.resume && fs::is_regular_file(out_);
    const Tuning resumed = goes_on ? read_tuning(out_) : Tuning();
    if (flags.resume && fs::is_regular_file(partial_)) {
      known.push_back(read_tuning(partial_));
    }
    known.push_back(tuning_for(info_));
    before_ = goes_on ? resumed : known.back();
    planner_before_ = goes_on ? std::make_unique<Planner>(info_, resumed) : std::make_unique<Planner>(info_);
    tuner_ = std::make_unique<Tuner>(*device_, options, resumed, known, interrupted());
  }

  int run() {
    std::printf("%s through %s, for %.0f s, for %s\n", info_.name.c_str(), info_.runtime.c_str(),
                report_.budget, out_.c_str());
    if (const auto warning = busy_warning()) {
      report_.warnings.push_back(*warning);
      std::printf("%s", warning_lines(report_.warnings).c_str());
    }
    tuner_->search([&] { checkpoint(); });
    tuner_->finish();
    checkpoint();
    std::printf("%s", tuner_->summary().c_str());
    if (!interrupted()) {
      conclude();
    }
    if (interrupted()) {
      std::printf("%s is left as it was; a search into it goes on from %s\n", out_.c_str(), partial_.c_str());
    }
    report_.counts = tuner_->counts();
    flags_.results.write(to_json(report_));
    return status_unless_interrupted(report_.counts.wrong == 0 ? 0 : 1);
  }

 private:
  // Keeps what was found so far where no planner looks for it.
  void checkpoint() {
    const Tuning found = result();
    const TuneCounts& counts = tuner_->counts();
    write_file(partial_, to_json(found));
    std::printf("%5.0f s left: %zu proposed, %zu refused, %zu wrong, %zu timed, %zu times better; %zu kept\n",
                std::max(tuner_->seconds_left(), 0.0), counts.proposed, counts.refused, counts.wrong,
                counts.timed, counts.improved, found.calibrations.size());
    std::fflush(stdout);
  }

  Tuning result() const {
    Tuning found = tuner_->result();
    // As tuning files have it (common/tuning/README.md).
    const bool by_driver = info_.backend == "opencl" && info_.is_nvidia() && find_backend("cuda") == nullptr;
    found.compiled_by = by_driver ? "driver" : "";
    found.evidence = today() + ", duogemm " DUOGEMM_VERSION ", " + info_.name + ", driver " + info_.driver +
                     ", " + info_.runtime + ", " + clock_before_ + " before and " + clock_text(info_) +
                     " after, " + std::to_string(tuner_->counts().timed) + " settings timed";
    return found;
  }

  // Writes what is faster than what there was.
  void conclude() {
    const Tuning found = result();
    report_.compared = tuner_->compare(*planner_before_, Planner(info_, found));
    if (interrupted()) {
      return;
    }
    std::printf("%s", comparison_text(report_.compared, "before and after").c_str());
    const auto kept = worth_writing(before_, found, report_.compared.timed);
    report_.written = kept.has_value();
    if (kept) {
      write_file(out_, to_json(*kept));
      std::printf("%s: what is faster than before is written\n", out_.c_str());
    } else {
      std::printf("Nothing is written to %s: what was found is not faster than what there is\n",
                  out_.c_str());
    }
    fs::remove(partial_);
    if (!held_out_.empty()) {
      report_.held_out =
          tuner_->compare_on(held_out_, Planner(info_, before_), Planner(info_, kept.value_or(before_)));
      std::printf("%s", comparison_text(report_.held_out, "held out").c_str());
    }
  }

  const TuneFlags& flags_;
  DeviceInfo info_;
  std::string out_;
  std::string partial_;
  std::vector<NamedShape> held_out_;
  TuneReport report_;
  std::string clock_before_;
  Tuning before_;
  std::unique_ptr<Planner> planner_before_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Tuner> tuner_;
};

int run(const TuneFlags& flags) {
  TuneOptions options = flags.options;
  options.budget = parse_duration(flags.budget);
  options.precision = flags.precision.value_or(Precision::fp32);
  if (options.precision != Precision::fp32 && !flags.shapes.empty()) {
    reject("--shapes: the best for single shapes is kept for fp32 alone");
  }
  options.shapes = load(flags.shapes, options.precision);
  std::vector<Tuning> from;
  std::ranges::transform(flags.from, std::back_inserter(from), read_tuning);
  if (!flags.out.empty()) {
    require_writable("--out", flags.out);
  }
  const ChosenDevice chosen = flags.device.choose().front();
  const bool on_cpu = chosen.info().kind == DeviceKind::cpu;
  std::vector<std::string> judging = shipped_shapes();  // those that are of such a device
  std::erase_if(judging, [&](const std::string& name) { return (name == "cpu") != on_cpu; });
  options.judges = load(judging, options.precision);
  Session session(flags, chosen, options, from);
  note_interrupts();
  return session.run();
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

}  // namespace duogemm::bench
