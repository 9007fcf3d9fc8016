// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device_choice.h"
#include "ladder.h"

namespace duogemm::bench {

// --backend and --device.
struct DeviceFlags {
  std::string backend;
  std::optional<std::size_t> device;

  void add_to(CLI::App& command, bool allow_all);
  std::vector<ChosenDevice> choose() const { return choose_devices(backend, device); }
};

// --kernels, --set, --ldg and --shuffle.
struct KernelFlags {
  std::vector<std::string> kernels;
  std::vector<std::string> set;
  std::optional<bool> ldg;
  std::optional<bool> shuffle;

  void add_to(CLI::App& command);
  LadderChoice choice() const;
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
