#include "cli/options.h"

#include <charconv>

#include "output/files.h"
#include "output/table.h"
#include "problem/precision.h"
#include "support/interrupt.h"
#include "support/shapes.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

std::pair<std::string, int> parse_assignment(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  int value = 0;
  const char* end = text.data() + text.size();
  const bool found = equals != std::string::npos && equals > 0;
  if (found) {
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error == std::errc() && stop == end) {
      return {text.substr(0, equals), value};
    }
  }
  reject(option + (" " + text) + ": expected NAME=NUMBER, such as TSM=64");
}

std::int64_t pick(const char* name, const std::optional<std::int64_t>& own,
                  const std::optional<std::int64_t>& size) {
  if (!own && !size) {
    reject(std::string(name) + " is missing: give -m, -n and -k, or --size for those that are the same");
  }
  return own ? *own : *size;
}

}  // namespace

void DeviceFlags::add_to(CLI::App& command, bool allow_all) {
  std::vector<std::string> names = {"opencl", "cuda", "cpu"};
  if (allow_all) {
    names.push_back("all");
  }
  command
      .add_option("--backend", backend,
                  allow_all
                      ? "Runtime; 'all' runs both on the same GPU. Default: that of DUOGEMM_DEVICE, or of "
                        "the best device"
                      : "Runtime. Default: that of DUOGEMM_DEVICE, or of the best device")
      ->check(CLI::IsMember(names));
  command.add_option("--device", device,
                     "Device as `duogemm devices` lists them: its name, such as cpu0, or its number for the "
                     "runtime");
}

void LevelFlag::add_to(CLI::App& command) {
  command.add_option("--level", name, "What the bits of the result must agree with")
      ->check(CLI::IsMember({"run_to_run", "everywhere"}))
      ->capture_default_str();
}

CLI::Option* PrecisionFlag::add_to(CLI::App& command) {
  std::vector<std::string> names;
  for (const Precision precision : precisions) {
    names.emplace_back(to_text(precision));
  }
  return command
      .add_option("--precision", name,
                  "What products may be computed with: a permission, which the library makes use of where "
                  "that is faster. Default: fp32")
      ->check(CLI::IsMember(names));
}

Precision PrecisionFlag::precision() const {
  return name.empty() ? Precision::fp32 : parse_precision("--precision", name);
}

void TunableFlags::add_to(CLI::App& command) {
  command.add_option("--set", set, "Tunables, such as TSM=64,TSN=64, for the kernels that have them")
      ->delimiter(',');
  command.add_flag_function(
      "--ldg,!--no-ldg", [this](std::int64_t on) { ldg = on > 0; },
      "Read-only loads, where a kernel has the switch");
  command.add_flag_function(
      "--shuffle,!--no-shuffle", [this](std::int64_t on) { shuffle = on > 0; },
      "Warp shuffles, where a kernel has the switch");
}

Tunables TunableFlags::switched() const {
  Tunables result;
  if (ldg) {
    result["USE_LDG"] = *ldg;
  }
  if (shuffle) {
    result["USE_SHUFFLE"] = *shuffle;
  }
  return result;
}

Tunables parse_assignments(const std::vector<std::string>& texts, const std::string& option) {
  Tunables result;
  for (const std::string& text : texts) {
    const auto [name, value] = parse_assignment(text, option);
    result.insert_or_assign(name, value);
  }
  return result;
}

void KernelFlags::add_to(CLI::App& command) {
  command.add_option("--kernels", kernels, "Rungs or names, such as 1,6,naive. Default: all")->delimiter(',');
  tunables.add_to(command);
}

void TimingFlags::add_to(CLI::App& command) {
  command.add_flag("--cold,!--hot", cold,
                   "Operands come from memory, not from a cache; or, by default, are the same every time");
  command.add_option("--noise", noise_percent, "Stop when the median's noise is below this many percent")
      ->capture_default_str()
      ->check(number_in(0.001, 100.0));
  command
      .add_option(
          "--seconds", seconds,
          "Or when a contender has used so much time on a problem, but has its least number of samples")
      ->capture_default_str()
      ->check(number_in(0.0001, 3600.0));
}

MeasureOptions TimingFlags::options() const {
  MeasureOptions options{.noise = noise_percent / 100.0, .seconds = seconds, .stop = &interrupted()};
  options.sample_seconds = cold ? 1e-2 : options.sample_seconds;
  return options;
}

void SizeFlags::add_to(CLI::App& command) {
  const CLI::Validator range = number_in(std::int64_t{1}, largest_size);
  command.add_option("-m", m, "Rows of A and C")->check(range);
  command.add_option("-n", n, "Columns of B and C")->check(range);
  command.add_option("-k", k, "Columns of A, rows of B")->check(range);
  command.add_option("--size", size, "M, N and K at once")->check(range);
}

Shape SizeFlags::shape() const { return {pick("-m", m, size), pick("-n", n, size), pick("-k", k, size)}; }

void ResultFlags::add_to(CLI::App& command) {
  command.add_option("--json", json,
                     "Write the results, with all that was measured, to this file, or - for stdout");
  command.add_flag_callback(
      "--markdown", [] { Table::style = Table::Style::markdown; }, "Print tables as Markdown");
}

void ResultFlags::add_csv_to(CLI::App& command) {
  command.add_option("--csv", csv, "Write the table to this file, or - for stdout");
}

void ResultFlags::require() const {
  require_place("--json", json);
  require_place("--csv", csv);
}

void ResultFlags::write(const Json& result) const { write_result(json, result.dump(1) + "\n"); }

void ResultFlags::write_csv(const std::string& table) const { write_result(csv, table); }

void StudyFlags::add_to(CLI::App& command, bool allow_all) {
  tunables.add_to(command);
  size.add_to(command);
  device.add_to(command, allow_all);
  timing.add_to(command);
  results.add_to(command);
}

}  // namespace duogemm::bench
