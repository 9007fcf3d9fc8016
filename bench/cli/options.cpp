#include "cli/options.h"

#include "output/files.h"
#include "output/table.h"
#include "problem/precision.h"
#include "support/format.h"
#include "support/interrupt.h"
#include "support/shapes.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

std::int64_t pick(const char* name, const std::optional<std::int64_t>& own,
                  const std::optional<std::int64_t>& size) {
  if (!own && !size) {
    reject(std::string(name) + " is missing: give -m, -n and -k, or --size for those that are the same");
  }
  return own ? *own : *size;
}

const Backend& require_backend(const std::string& name) {
  const Backend* backend = find_backend(name);
  if (backend == nullptr) {
    reject("--backend " + name + ": this build has " + known_backends());
  }
  return *backend;
}

ChosenDevice choose_from(const Backend& backend, std::optional<std::size_t> index) {
  const std::vector<DeviceInfo> devices = backend.devices();
  const std::string name(backend.name());
  if (devices.empty()) {
    reject("--backend " + name + ": " + no_device_of(backend));
  }
  if (index && *index >= devices.size()) {
    reject("--device " + std::to_string(*index) + ": " + name + " has devices 0 to " +
           std::to_string(devices.size() - 1));
  }
  return {{&backend, index.value_or(preferred_device(devices))}};
}

}  // namespace

CLI::Validator size_range() { return number_in(std::int64_t{1}, largest_size); }

void DeviceFlags::add_to(CLI::App& command, bool allow_all) {
  std::vector<std::string> names = {"opencl", "cuda"};
  std::string about = "Runtime";
  if (allow_all) {
    names.push_back("all");
    about += "; 'all' runs both on the same GPU";
  }
  command
      .add_option("--backend", backend, about + ". Default: that of DUOGEMM_DEVICE, or of the best device")
      ->check(CLI::IsMember(names));
  command.add_option("--device", device, "Device number, as `duogemm devices` lists them for the runtime")
      ->check(number_in(0, 1023));
}

std::vector<ChosenDevice> DeviceFlags::choose() const {
  if (backend.empty() && !device) {
    return {{select_device("")}};
  }
  if (backend != "all") {
    return {choose_from(backend.empty() ? best_backend() : require_backend(backend), device)};
  }
  const ChosenDevice cuda = choose_from(require_backend("cuda"), device);
  const Backend& opencl = require_backend("opencl");
  const std::string bus = cuda.info().pci_bus;
  for (const DeviceInfo& other : opencl.devices()) {
    if (other.pci_bus == bus) {
      return {cuda, {{&opencl, other.index}}};
    }
  }
  reject("--backend all: no OpenCL platform has the CUDA device at " + bus);
}

void SizeFlags::add_to(CLI::App& command) {
  command.add_option("-m", m, "Rows of A and C")->check(size_range());
  command.add_option("-n", n, "Columns of B and C")->check(size_range());
  command.add_option("-k", k, "Columns of A, rows of B")->check(size_range());
  command.add_option("--size", size, "M, N and K at once")->check(size_range());
}

Shape SizeFlags::shape() const { return {pick("-m", m, size), pick("-n", n, size), pick("-k", k, size)}; }

CLI::Option* add_precision(CLI::App& command, std::optional<Precision>& precision) {
  std::vector<std::string> names;
  for (const Precision each : precisions) {
    names.emplace_back(to_text(each));
  }
  return command
      .add_option_function<std::string>(
          "--precision",
          [&precision](const std::string& name) { precision = parse_precision("--precision", name); },
          "What products may be computed with: a permission, which the library makes use of where that is "
          "faster. Default: fp32")
      ->check(CLI::IsMember(names));
}

void ProblemFlags::add_to(CLI::App& command) {
  size.add_to(command);
  command.add_option("--ops", ops, "Which of A and B are stored transposed: NN, NT, TN or TT. Default: NN")
      ->check(CLI::IsMember({"NN", "NT", "TN", "TT"}));
  command.add_option("--batch", batch, "How many multiplications at once. Default: 1")->check(size_range());
  command.add_option("--level", level, "What the bits of the result must agree with")
      ->check(CLI::IsMember({"run_to_run", "everywhere"}))
      ->capture_default_str();
  add_precision(command, precision);
}

void ProblemFlags::permit(Problem& problem) const {
  problem.level = level == "everywhere" ? Reproducibility::everywhere : Reproducibility::run_to_run;
  problem.precision = precision.value_or(Precision::fp32);
  validate(problem);
}

Problem ProblemFlags::problem() const {
  const auto [m, n, k] = size.shape();
  Problem problem = packed_problem(m, n, k, ops.value_or("NN"), batch.value_or(1));
  permit(problem);
  return problem;
}

Tunables parse_assignments(const std::vector<std::string>& texts, const std::string& option) {
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

void add_tunables(CLI::App& command, LadderChoice& choice) {
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

void add_kernels(CLI::App& command, LadderChoice& choice) {
  command.add_option("--kernels", choice.kernels, "Rungs or names, such as 1,6,naive. Default: all")
      ->delimiter(',');
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

void ResultFlags::add_to(CLI::App& command, bool with_csv) {
  command.add_option("--json", json,
                     "Write the results, with all that was measured, to this file, or - for stdout");
  command.add_flag_callback(
      "--markdown", [] { Table::style = Table::Style::markdown; }, "Print tables as Markdown");
  if (with_csv) {
    command.add_option("--csv", csv, "Write the table to this file, or - for stdout");
  }
}

void ResultFlags::require() const {
  require_place("--json", json);
  require_place("--csv", csv);
}

void ResultFlags::write(const Json& result) const { write_result(json, result.dump(1) + "\n"); }

void ResultFlags::write_csv(const std::string& table) const { write_result(csv, table); }

void StudyFlags::add_to(CLI::App& command, bool allow_all, bool with_csv) {
  add_tunables(command, choice);
  size.add_to(command);
  device.add_to(command, allow_all);
  timing.add_to(command);
  results.add_to(command, with_csv);
}

}  // namespace duogemm::bench
