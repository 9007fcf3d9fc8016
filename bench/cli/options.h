// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "ladder/ladder.h"
#include "support/device_choice.h"
#include "timing/measure.h"

namespace duogemm::bench {

// --backend and --device.
struct DeviceFlags {
  std::string backend;
  std::optional<std::size_t> device;

  void add_to(CLI::App& command, bool allow_all);
  std::vector<ChosenDevice> choose() const { return choose_devices(backend, device); }
};

// --level: what the bits of a result must agree with.
struct LevelFlag {
  std::string name = "run_to_run";

  void add_to(CLI::App& command);
  Reproducibility level() const {
    return name == "everywhere" ? Reproducibility::everywhere : Reproducibility::run_to_run;
  }
};

// --ldg and --shuffle.
struct SwitchFlags {
  std::optional<bool> ldg;
  std::optional<bool> shuffle;

  void add_to(CLI::App& command);
  Tunables tunables() const;
};

// "TSM=64" and others, as `option` has them. Throws invalid_argument.
Tunables parse_assignments(const std::vector<std::string>& texts, const std::string& option);

// --kernels, --set, --ldg and --shuffle.
struct KernelFlags {
  std::vector<std::string> kernels;
  std::vector<std::string> set;
  SwitchFlags switches;

  void add_to(CLI::App& command);
  LadderChoice choice() const;
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

}  // namespace duogemm::bench
