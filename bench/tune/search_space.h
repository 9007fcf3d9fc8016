// What a tuner looks at: how operands may be stored, problems of each kind, and the settings that a kernel
// may have for them.
#pragma once

#include <random>

#include "families/kernel_spec.h"
#include "support/shapes.h"

namespace duogemm::bench {

using Random = std::mt19937_64;

// Kernels are compiled differently for operands that are stored in these ways.
struct OperandKind {
  std::string ops;                        // "NN", "NT", "TN" or "TT"
  bool wide;                              // sizes and leading dimensions are multiples of 4
  std::int64_t skinny = 0;                // how many columns C has, where that decides; else 0
  Precision precision = Precision::fp32;  // that is permitted

  std::string name() const;  // "NT wide", "TN narrow", "NN wide skinny 4", "NN wide f16x3"
};

// All there are, the skinny ones first.
std::vector<OperandKind> operand_kinds(Precision precision = Precision::fp32);

// Leading dimensions are as small as the kind has them. When `kind` is wide, so must m and n be.
Problem make_problem(const OperandKind& kind, std::int64_t m, std::int64_t n, std::int64_t k,
                     std::int64_t batch = 1);

// Squares of all sizes, skinny and tall results, short and long sums, batches; of a skinny kind, such that
// are as skinny.
std::vector<NamedShape> make_probes(const OperandKind& kind);

// Problems as programs may have them, the same for a seed every time: of middle and of any size, large ones,
// few rows or columns, long and short sums, and batches. Half of them have sizes that are multiples of 8.
std::vector<NamedShape> random_shapes(std::uint64_t seed, std::size_t count, Precision precision);

// Problems that no tile divides, one of several tiles each way and one smaller than any tile.
std::vector<Problem> edge_problems(const OperandKind& kind);

// The settings that a kernel may have under given operands, drawn at random or from others.
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
