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

// A size, or how many there are of something that has one.
CLI::Validator size_range();

// --backend and --device.
struct DeviceFlags {
  std::string backend;
  std::optional<std::size_t> device;

  void add_to(CLI::App& command, bool allow_all = false);
  // The best device that there is where no backend is given: CUDA, then a GPU through OpenCL, then whatever
  // OpenCL has; or that of DUOGEMM_DEVICE where no device is given either, as in the library. Of a backend
  // the first of the best kind. "all": the same GPU through both runtimes, CUDA first. Throws
  // invalid_argument naming what there is.
  std::vector<ChosenDevice> choose() const;
};

// -m, -n, -k and --size.
struct SizeFlags {
  std::optional<std::int64_t> m, n, k, size;

  void add_to(CLI::App& command);
  bool given() const { return m || n || k || size; }
  // Throws invalid_argument when one of the three is neither given nor covered by --size.
  Shape shape() const;
  // A cube where nothing is given.
  Shape shape_or(std::int64_t usual) const { return given() ? shape() : Shape{usual, usual, usual}; }
};

// --precision: what the products may be computed with; fp32 where nothing is given.
CLI::Option* add_precision(CLI::App& command, std::optional<Precision>& precision);

// A multiplication: its sizes, and --ops, --batch, --level and --precision.
struct ProblemFlags {
  SizeFlags size;
  std::optional<std::string> ops;
  std::optional<std::int64_t> batch;
  std::string level = "run_to_run";
  std::optional<Precision> precision;

  void add_to(CLI::App& command);
  // What such problems may be computed with, and what their bits must agree with. Throws as validate().
  void permit(Problem& problem) const;
  Problem problem() const;
};

// "TSM=64" and others, as `option` has them. Throws invalid_argument.
Tunables parse_assignments(const std::vector<std::string>& texts, const std::string& option);

// --kernels; and --set, --ldg and --shuffle.
void add_kernels(CLI::App& command, LadderChoice& choice);
void add_tunables(CLI::App& command, LadderChoice& choice);

// --hot, --cold, --noise and --seconds, each command with its own defaults.
struct TimingFlags {
  bool cold = false;
  double noise_percent = 1.0;
  double seconds = 1.0;

  void add_to(CLI::App& command);
  MeasureOptions options() const;
};

// --json and, of some commands, --csv say where results go besides the tables that are printed, and
// --markdown how these look.
struct ResultFlags {
  std::string json;
  std::string csv;

  void add_to(CLI::App& command, bool with_csv = false);
  // Before the work: throws invalid_argument when a file cannot be written there.
  void require() const;
  void write(const Json& result) const;
  void write_csv(const std::string& table) const;
};

// A command that times kernels asks this besides their names.
struct StudyFlags {
  LadderChoice choice;
  SizeFlags size;
  DeviceFlags device;
  TimingFlags timing;
  ResultFlags results;

  void add_to(CLI::App& command, bool allow_all, bool with_csv);
};

}  // namespace duogemm::bench
