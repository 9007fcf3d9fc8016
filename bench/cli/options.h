// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladder/ladder.h"
#include "output/files.h"
#include "output/json.h"
#include "output/table.h"
#include "problem/precision.h"
#include "references/reference.h"
#include "support/device_choice.h"
#include "support/format.h"
#include "support/interrupt.h"
#include "support/shapes.h"
#include "system/reject.h"
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

// An option that takes one of these words, and gives `value` what stands beside it.
template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;
template <typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const Choices<std::type_identity_t<Value>>& choices, const std::string& about) {
  return command
      .add_option_function<std::string>(
          name,
          [&value, choices](const std::string& word) {
            value = std::ranges::find(choices, word, &std::pair<std::string, Value>::first)->second;
          },
          about)
      ->check(CLI::IsMember(choices));
}

// The words are the values' names.
template <typename Value, typename Choice, std::size_t count>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const std::array<Choice, count>& all, const std::string& about) {
  Choices<Value> choices;
  for (const Choice each : all) {
    choices.emplace_back(to_text(each), each);
  }
  return add_choice(command, name, value, choices, about);
}

// A size, or how many there are of something that has one.
inline CLI::Validator size_range() { return number_in(std::int64_t{1}, largest_size); }

// --backend and --device. Commands that run the ladder take runtimes that the library has not.
struct DeviceFlags {
  std::string backend;
  std::string device;
  bool for_ladder = false;
  bool all_with_webgpu = false;

  void add_to(CLI::App& command, bool allow_all = false) {
    std::vector<std::string> names = {"opencl", "cuda", "cpu", "webgpu"};
    std::string about = "Runtime";
    if (allow_all) {
      names.push_back("all");
      about +=
          std::string("; 'all': CUDA and OpenCL on the same GPU") + (all_with_webgpu ? ", and WebGPU" : "");
    }
    command
        .add_option("--backend", backend, about + ". Default: that of DUOGEMM_DEVICE, or of the best device")
        ->check(CLI::IsMember(names));
    command.add_option(
        "--device", device,
        "Device as `duogemm devices` lists them: its name, such as cpu0, or its number for the "
        "runtime");
  }

  // The best device that there is where no backend is given (see select_device), or that of DUOGEMM_DEVICE
  // where no device is given either. Of a backend the first of the best kind. "all": the same GPU through
  // CUDA, OpenCL and, where that is asked for and has it, WebGPU. Throws invalid_argument naming what there
  // is.
  std::vector<ChosenDevice> choose() const {
    std::optional<std::size_t> number;
    if (device.find_first_not_of("0123456789") != std::string::npos) {
      if (!backend.empty()) {
        reject("--device " + device + ": expected a number, as --backend names the runtime");
      }
      return {{named_device("--device", device, known())}};
    }
    if (!device.empty()) {
      number = std::stoul(device.substr(0, 9));
    } else if (backend.empty()) {
      return {{select_device("")}};
    }
    if (backend != "all") {
      return {device_of(backend.empty() ? *best_device().backend : require_backend(backend), number)};
    }
    const ChosenDevice cuda = device_of(require_backend("cuda"), number);
    const Backend& opencl = require_backend("opencl");
    const std::string bus = cuda.info().pci_bus;
    for (const DeviceInfo& other : opencl.devices()) {
      if (other.pci_bus == bus) {
        std::vector<ChosenDevice> all = {cuda, {{&opencl, other.index}}};
        if (all_with_webgpu) {
          add_through_webgpu(all);
        }
        return all;
      }
    }
    reject("--backend all: no OpenCL platform has the CUDA device at " + bus);
  }

  // The same for kernels that have barriers: where nothing is named, the best device that has them, if there
  // is one.
  std::vector<ChosenDevice> choose_with_barriers() const {
    std::vector<ChosenDevice> chosen = choose();
    const char* const environment = std::getenv("DUOGEMM_DEVICE");
    const bool named =
        !backend.empty() || !device.empty() || (environment != nullptr && *environment != '\0');
    if (named || chosen.front().info().barriers) {
      return chosen;
    }
    for (const Backend* other : backends()) {
      for (const DeviceInfo& info : other->devices()) {
        if (info.barriers) {
          return {{{other, info.index}}};
        }
      }
    }
    return chosen;
  }

 private:
  // WebGPU tells no more of a GPU than its name, which only one may have.
  void add_through_webgpu(std::vector<ChosenDevice>& all) const {
    const Backend* const webgpu = find_backend("webgpu", known());
    const std::vector<DeviceInfo> devices = webgpu == nullptr ? std::vector<DeviceInfo>() : webgpu->devices();
    const std::string name = all.front().info().name;
    if (std::ranges::count(devices, name, &DeviceInfo::name) == 1) {
      all.push_back({{webgpu, std::ranges::find(devices, name, &DeviceInfo::name)->index}});
    }
  }

  const Backends& known() const { return for_ladder ? laboratory_backends() : backends(); }

  const Backend& require_backend(const std::string& name) const {
    const Backend* found = find_backend(name, known());
    if (found == nullptr) {
      const bool is_other = find_backend(name, laboratory_backends()) != nullptr;
      reject("--backend " + name + ": " +
             (is_other ? "it runs the ladder alone, for which there are ladder, verify, sweep and explain"
                       : "this build has " + names_of(known())));
    }
    return *found;
  }

  static ChosenDevice device_of(const Backend& chosen, std::optional<std::size_t> number) {
    const std::vector<DeviceInfo> devices = chosen.devices();
    const std::string name(chosen.name());
    if (devices.empty()) {
      reject("--backend " + name + ": " + no_device_of(chosen));
    }
    if (number && *number >= devices.size()) {
      reject("--device " + std::to_string(*number) + ": " + name + " has devices 0 to " +
             std::to_string(devices.size() - 1));
    }
    return {{&chosen, number.value_or(preferred_device(devices))}};
  }
};

// -m, -n, -k and --size.
struct SizeFlags {
  std::optional<std::int64_t> m, n, k, size;

  void add_to(CLI::App& command) {
    command.add_option("-m", m, "Rows of A and C")->check(size_range());
    command.add_option("-n", n, "Columns of B and C")->check(size_range());
    command.add_option("-k", k, "Columns of A, rows of B")->check(size_range());
    command.add_option("--size", size, "M, N and K at once")->check(size_range());
  }

  bool given() const { return m || n || k || size; }
  // Throws invalid_argument when one of the three is neither given nor covered by --size.
  Shape shape() const {
    const auto pick = [&](const char* name, const std::optional<std::int64_t>& own) {
      if (!own && !size) {
        reject(std::string(name) + " is missing: give -m, -n and -k, or --size for those that are the same");
      }
      return own ? *own : *size;
    };
    return {pick("-m", m), pick("-n", n), pick("-k", k)};
  }
  // A cube where nothing is given.
  Shape shape_or(std::int64_t usual) const { return given() ? shape() : Shape{usual, usual, usual}; }
};

// --precision: what the products may be computed with; fp32 where nothing is given.
inline CLI::Option* add_precision(CLI::App& command, std::optional<Precision>& precision) {
  return add_choice(
      command, "--precision", precision, precisions,
      "What products may be computed with: a permission, which the library makes use of where that is "
      "faster. Default: fp32");
}

// A multiplication: its sizes, and --ops, --batch, --level and --precision.
struct ProblemFlags {
  SizeFlags size;
  std::optional<std::string> ops;
  std::optional<std::int64_t> batch;
  std::string level = "run_to_run";
  std::optional<Precision> precision;

  void add_to(CLI::App& command) {
    size.add_to(command);
    command.add_option("--ops", ops, "Which of A and B are stored transposed: NN, NT, TN or TT. Default: NN")
        ->check(CLI::IsMember({"NN", "NT", "TN", "TT"}));
    command.add_option("--batch", batch, "How many multiplications at once. Default: 1")->check(size_range());
    command.add_option("--level", level, "What the bits of the result must agree with")
        ->check(CLI::IsMember({"run_to_run", "everywhere", "batch_invariant"}))
        ->capture_default_str();
    add_precision(command, precision);
  }

  // What such problems may be computed with, and what their bits must agree with. Throws as validate().
  void permit(Problem& problem) const {
    problem.level = parse_level("--level", level);
    problem.precision = precision.value_or(Precision::fp32);
    validate(problem);
  }
  Problem problem() const {
    const auto [m, n, k] = size.shape();
    Problem problem = packed_problem(m, n, k, ops.value_or("NN"), batch.value_or(1));
    permit(problem);
    return problem;
  }
};

// "TSM=64" and others, as `option` has them. Throws invalid_argument.
inline Tunables parse_assignments(const std::vector<std::string>& texts, const std::string& option) {
  Tunables result;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    int value = 0;
    if (equals == 0 || equals == std::string::npos || !read_number(text.substr(equals + 1), value)) {
      reject(option + " " + text + ": expected NAME=NUMBER, such as TSM=64");
    }
    result.insert_or_assign(text.substr(0, equals), value);
  }
  return result;
}

// --set, --ldg and --shuffle.
inline void add_tunables(CLI::App& command, LadderChoice& choice) {
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&choice](const std::vector<std::string>& texts) {
            choice.set = parse_assignments(texts, "--set");
          },
          "Tunables, such as TSM=64,TSN=64, for the kernels that have them")
      ->delimiter(',');
  const auto add_switch = [&](const std::string& names, const char* tunable, const std::string& about) {
    command.add_flag_function(
        names, [&choice, tunable](std::int64_t on) { choice.switches[tunable] = on > 0; }, about);
  };
  add_switch("--ldg,!--no-ldg", "USE_LDG", "Read-only loads, where a kernel has the switch");
  add_switch("--shuffle,!--no-shuffle", "USE_SHUFFLE", "Warp shuffles, where a kernel has the switch");
}

inline void add_kernels(CLI::App& command, LadderChoice& choice) {
  command.add_option("--kernels,--kernel", choice.kernels, "Rungs or names, such as 1,6,naive. Default: all")
      ->delimiter(',');
}

// --against: those for GPUs, those for CPUs, or none.
inline CLI::Validator one_of_libraries(std::vector<std::string> titles) {
  std::ranges::copy(titles_on_host(), std::back_inserter(titles));
  titles.emplace_back("none");
  return CLI::IsMember(titles, CLI::ignore_case);
}

// --hot, --cold, --noise and --seconds, each command with its own defaults.
struct TimingFlags {
  bool cold = false;
  double noise_percent = 1.0;
  double seconds = 1.0;

  void add_to(CLI::App& command) {
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

  MeasureOptions options() const {
    MeasureOptions options{.noise = noise_percent / 100.0, .seconds = seconds, .stop = &interrupted()};
    options.sample_seconds = cold ? 1e-2 : options.sample_seconds;
    return options;
  }
};

// --markdown and --wide say how tables look.
inline void add_table_flags(CLI::App& command) {
  command.add_flag_callback(
      "--markdown,--md", [] { Table::style = Table::Style::markdown; }, "Print tables as Markdown");
  command.add_flag_callback(
      "--wide", [] { Table::room = 0; },
      "Print all columns of tables and whole warnings, whatever the terminal's width");
}

// --json says where results go besides the tables that are printed.
struct ResultFlags {
  std::string json;

  void add_to(CLI::App& command) {
    command.add_option("--json", json,
                       "Write the results, with all that was measured, to this file, or - for stdout");
    add_table_flags(command);
  }

  // Before the work: throws invalid_argument when a file cannot be written there.
  void require() const {
    require_place("--json", json);
    if (json == "-") {  // tables then go to the standard error
      Table::colours = false;
    }
  }
  void write(const Json& result) const { write_result(json, result.dump(1) + "\n"); }
};

// A command that times kernels asks this besides their names.
struct StudyFlags {
  LadderChoice choice;
  SizeFlags size;
  DeviceFlags device;
  TimingFlags timing;
  ResultFlags results;

  void add_to(CLI::App& command, bool allow_all) {
    device.for_ladder = true;
    add_tunables(command, choice);
    size.add_to(command);
    device.add_to(command, allow_all);
    timing.add_to(command);
    results.add_to(command);
  }
};

}  // namespace duogemm::bench
