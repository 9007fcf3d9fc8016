// The kernels that the library has not: the ladder's rungs, what supports them, and what measures a device.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/kernel_spec.h"

namespace duogemm {

// A kernel of the ladder, or one that stands beside it for comparison, with how it wants its operands (see
// ladder_plan.cpp).
struct Rung : KernelSpec {
  std::string label;  // "1" to "11", or a comparison's own
  // From the tunables, what M, N and K must be multiples of: operands are padded.
  std::function<Multiples(const Tunables&)> multiples = [](const Tunables&) { return Multiples{}; };
  bool row_major = false;               // matrices are stored by rows
  bool transposed_b = false;            // B comes as N x K
  bool stores_any_size = false;         // A and B are padded, but C is the caller's, whatever its size
  std::vector<Tunables> variants = {};  // settings that the ladder shows besides the file's own
};

// In their order. To add one is one file under kernels/ladder/ and one entry in rungs.cpp.
std::span<const Rung> rungs();

// The kernel as a rung; null where it is none.
const Rung* as_rung(const KernelSpec& spec);

// "" for a kernel that is no rung.
std::string label_of(const KernelSpec& spec);

// Every kernel there is: the rungs, what supports them (under kernels/support/, entered in rungs.cpp too),
// and the library's.
const std::vector<const KernelSpec*>& all_kernels();

// The one of that name. Throws invalid_argument naming those that there are.
const KernelSpec& any_kernel(std::string_view name);

}  // namespace duogemm
