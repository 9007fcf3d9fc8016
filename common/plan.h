// A plan: the ordered list of kernel launches that carries out one multiplication.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kernel_spec.h"
#include "problem.h"

namespace duogemm {

// Which buffer a step works on: the caller's A, B or C, or a workspace of the plan.
struct Operand {
  int slot;
  bool operator==(const Operand&) const = default;
};
inline constexpr Operand operand_a{0};
inline constexpr Operand operand_b{1};
inline constexpr Operand operand_c{2};
inline constexpr int first_workspace = 3;

using StepArgument = std::variant<std::int32_t, float, Operand>;

struct Step {
  const KernelSpec* spec;
  Tunables tunables;
  Geometry geometry;
  std::vector<StepArgument> arguments;
};

struct Plan {
  std::vector<Step> steps;
  std::size_t multiply = 0;                  // which of the steps multiplies
  std::vector<std::size_t> workspace_bytes;  // workspace i is slot first_workspace + i

  bool has_support_steps() const { return steps.size() > 1; }
};

// The plan that runs one rung of the ladder on a problem of any size: operands that are not as the kernel
// wants them (padded, transposed, packed) are brought into that form around it. Throws invalid_argument when
// a matrix is too large for the rungs' 32-bit indices, and unsupported when the device cannot run the kernel.
Plan plan_ladder(const KernelSpec& spec, const Tunables& tunables, const Problem& problem,
                 const DeviceInfo& device);

}  // namespace duogemm
