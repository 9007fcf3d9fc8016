// duogemm ladder: every rung on one problem, checked and timed.
#include <cstdio>
#include <map>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/ladder_output.h"
#include "support/interrupt.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

struct LadderFlags {
  DeviceFlags device;
  KernelFlags kernels;
  SizeFlags size;
  TimingFlags timing{.noise_percent = 1.0, .seconds = 2.0};
  CachePreference cache = CachePreference::none;
  BankWidth banks = BankWidth::standard;
  ResultFlags results;
  bool tutorial = false;
};

LadderRequest make_request(const LadderFlags& flags) {
  LadderRequest request;
  const LadderChoice choice = flags.kernels.choice();
  request.settings = ladder_settings(choice);
  if (choice.kernels.empty()) {
    request.settings.push_back(planned_setting());
  }
  if (flags.size.given()) {
    request.shape = flags.size.shape();
  }
  request.devices = flags.device.choose_compiling();
  for (const ChosenDevice& device : request.devices) {
    require_supported(choice, request.settings, device.info());
  }
  request.device_options = {flags.cache, flags.banks};
  request.measure = flags.timing.options();
  request.cold = flags.timing.cold;
  return request;
}

std::vector<LadderReport> what_was_measured(std::vector<LadderReport> reports) {
  for (LadderReport& report : reports) {
    report.keep_measured();
  }
  std::erase_if(reports, [](const LadderReport& report) { return report.rows.empty(); });
  return reports;
}

int run(const LadderFlags& flags) {
  flags.results.require();
  const LadderRequest request = make_request(flags);
  note_interrupts();
  Progress progress;
  std::vector<LadderReport> reports = run_ladder(request, progress);
  if (interrupted()) {
    reports = what_was_measured(std::move(reports));
  }
  bool ok = true;
  for (const LadderReport& report : reports) {
    std::printf("%s%s\n", ladder_text(report, flags.tutorial).c_str(),
                warning_lines(report.warnings(request.measure.noise)).c_str());
    ok = ok && report.ok();
  }
  if (reports.size() == 2 && !interrupted()) {
    std::printf("%s\n", side_by_side_text(reports[0], reports[1]).c_str());
  }
  if (!reports.empty()) {
    flags.results.write(ladder_json(reports, request));
    flags.results.write_csv(ladder_csv(reports));
  }
  return status_unless_interrupted(ok ? 0 : 1);
}

void add_options(CLI::App& command, LadderFlags& flags) {
  flags.device.add_to(command, true);
  flags.size.add_to(command);
  flags.kernels.add_to(command);
  flags.timing.add_to(command);
  const std::map<std::string, CachePreference> caches = {{"none", CachePreference::none},
                                                         {"local", CachePreference::local},
                                                         {"l1", CachePreference::l1},
                                                         {"equal", CachePreference::equal}};
  command.add_option("--cache-config", flags.cache, "CUDA: what on-chip memory is preferred for")
      ->transform(CLI::CheckedTransformer(caches));
  const std::map<std::string, BankWidth> banks = {{"4", BankWidth::four_bytes},
                                                  {"8", BankWidth::eight_bytes}};
  command.add_option("--bank-size", flags.banks, "CUDA before 13: bytes in a bank of local memory")
      ->transform(CLI::CheckedTransformer(banks));
  flags.results.add_to(command);
  flags.results.add_csv_to(command);
  command.add_flag("--tutorial", flags.tutorial, "Show the Tesla K40m's figures of 2014 as a column");
}

}  // namespace

void add_ladder_command(CLI::App& app, Action& action) {
  add_command<LadderFlags>(app, action, "ladder", "Run, check and time the rungs of the SGEMM ladder",
                           add_options, run);
}

}  // namespace duogemm::bench
