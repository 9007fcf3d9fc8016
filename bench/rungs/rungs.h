// The kernels that the library has not: the ladder's rungs, what supports them, and what measures a device.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "families/kernel_source.h"
#include "families/kernel_spec.h"

namespace duogemm {

// A kernel of the ladder, or one that it is compared with, with how it wants its operands (see
// ladder_plan.cpp).
struct Rung : KernelSpec {
  std::string label;  // "1" to "17", or a comparison's own
  // From the tunables, what M, N and K must be multiples of: operands are padded.
  std::function<Multiples(const Tunables&)> multiples = [](const Tunables&) { return Multiples{}; };
  // From the tunables, into how many splits it cuts K; their results stand one after the other.
  std::function<int(const Tunables&)> splits = [](const Tunables&) { return 1; };
  bool row_major = false;               // matrices are stored by rows
  bool transposed_b = false;            // B comes as N x K
  bool for_cpus = false;                // a work-item of it has a core to itself
  bool stores_any_size = false;         // A and B are padded, but C is the caller's, whatever its size
  int bf16_products = 0;                // on tensor cores, for each product of FP32; 0 without them
  std::vector<Tunables> variants = {};  // settings that the ladder shows besides the file's own
};

// The build embeds the files of kernels/ladder/ and kernels/support/.
std::span<const EmbeddedFile> rung_files();

// In their order. To add one is one file in kernels/ladder/beyond/ and one entry in rungs.cpp.
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
