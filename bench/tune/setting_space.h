// The settings that a kernel may have under given operands, drawn at random or from others.
#pragma once

#include <optional>
#include <random>

#include "families/kernel_spec.h"

namespace duogemm::bench {

using Random = std::mt19937_64;

class SettingSpace {
 public:
  // `fixed`: tunables that are not to be chosen. What the device cannot run is not drawn.
  SettingSpace(const KernelSpec& spec, const Tunables& fixed, const DeviceInfo& device);

  // All four draw settings of every tunable that keep the kernel's rules, and nothing when luck has run out:
  // mutate() and cross() such as differ from the first.
  std::optional<Tunables> sample(Random& random) const;
  // One or two tunables of `from` are others, most often neighbouring values.
  std::optional<Tunables> mutate(const Tunables& from, Random& random) const;
  // Each tunable is from one of the two.
  std::optional<Tunables> cross(const Tunables& one, const Tunables& other, Random& random) const;
  // The nearest that this space has to a setting of another.
  std::optional<Tunables> adopt(const Tunables& from) const;

  // Two settings are apart by the sum over the tunables of how many values lie between, relative to how many
  // there are.
  double distance(const Tunables& one, const Tunables& other) const;

 private:
  template <typename Change>
  std::optional<Tunables> draw(const Tunables& from, const Change& change) const;
  bool legal(const Tunables& tunables) const;

  const KernelSpec& spec_;
  const DeviceInfo& device_;
  Tunables fixed_;
  std::vector<TunableDeclaration> open_;
};

}  // namespace duogemm::bench
