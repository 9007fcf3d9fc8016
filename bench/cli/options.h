// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "ladder/ladder.h"
#include "output/json.h"
#include "support/device_choice.h"
#include "timing/measure.h"

namespace duogemm::bench {

// As CLI::Range, in whose words what is no number is not in range, and 0.001 is 0.001000.
template <typename Number>
CLI::Validator number_in(Number least, Number most) {
  CLI::Range range(least, most);
  std::ostringstream allowed;
  allowed << least << " to " << most;
  range.operation([least, most, allowed = allowed.str()](const std::string& text) {
    Number value;
    if (!CLI::detail::lexical_cast(text, value)) {
      return "'" + text + "' is no " + (std::is_integral_v<Number> ? "whole " : "") +
             "number; the range is " + allowed;
    }
    return value >= least && value <= most ? "" : text + " is not in the range " + allowed;
  });
  return range;
}

// --backend and --device.
struct DeviceFlags {
  std::string backend;
  std::string device;

  void add_to(CLI::App& command, bool allow_all);
  std::vector<ChosenDevice> choose() const { return choose_devices(backend, device); }
  std::vector<ChosenDevice> choose_compiling() const { return choose_compiling_devices(backend, device); }
};

// --level: what the bits of a result must agree with.
struct LevelFlag {
  std::string name = "run_to_run";

  void add_to(CLI::App& command);
  Reproducibility level() const {
    return name == "everywhere" ? Reproducibility::everywhere : Reproducibility::run_to_run;
  }
};

// --precision: what the products may be computed with.
struct PrecisionFlag {
  std::string name;  // fp32 where it is not given

  CLI::Option* add_to(CLI::App& command);
  Precision precision() const;
};

// "TSM=64" and others, as `option` has them. Throws invalid_argument.
Tunables parse_assignments(const std::vector<std::string>& texts, const std::string& option);

// --set, --ldg and --shuffle.
struct TunableFlags {
  std::vector<std::string> set;
  std::optional<bool> ldg;
  std::optional<bool> shuffle;

  void add_to(CLI::App& command);
  Tunables assigned() const { return parse_assignments(set, "--set"); }
  Tunables switched() const;
};

// --kernels, and their tunables.
struct KernelFlags {
  std::vector<std::string> kernels;
  TunableFlags tunables;

  void add_to(CLI::App& command);
  LadderChoice choice() const { return {kernels, tunables.assigned(), tunables.switched()}; }
};

// --hot, --cold, --noise and --seconds, each command with its own defaults.
struct TimingFlags {
  bool cold = false;
  double noise_percent;
  double seconds;

  void add_to(CLI::App& command);
  MeasureOptions options() const;
};

// -m, -n, -k and --size.
struct SizeFlags {
  std::optional<std::int64_t> m, n, k, size;

  void add_to(CLI::App& command);
  bool given() const { return m || n || k || size; }
  // Throws invalid_argument when one of the three is neither given nor covered by --size.
  Shape shape() const;
};

// --json and, of some commands, --csv say where results go besides the tables that are printed, and
// --markdown how these look.
struct ResultFlags {
  std::string json;
  std::string csv;

  void add_to(CLI::App& command);
  void add_csv_to(CLI::App& command);
  // Before the work: throws invalid_argument when a file cannot be written there.
  void require() const;
  void write(const Json& result) const;
  void write_csv(const std::string& table) const;
};

// A command that looks closely at a kernel asks this besides its name.
struct StudyFlags {
  TunableFlags tunables;
  SizeFlags size;
  DeviceFlags device;
  TimingFlags timing{.noise_percent = 1.0, .seconds = 1.0};
  ResultFlags results;

  void add_to(CLI::App& command, bool allow_all);
};

}  // namespace duogemm::bench
