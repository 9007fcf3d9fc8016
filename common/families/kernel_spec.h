// What only the host can say about a kernel. Everything else stands in the kernel's own file.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/backend.h"
#include "families/tunables.h"
#include "problem/problem.h"

namespace duogemm {

// A condition on tunables, with the sentence that says what is wrong when it does not hold.
struct Rule {
  std::string reason;
  std::function<bool(const Tunables&)> holds;
};

// What M, N and K of the operands that a kernel is given must be multiples of.
struct Multiples {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
};

// What the library knows, besides, of a kernel that computes C.
struct GemmFacts {
  // Which problems it computes.
  std::function<bool(const Problem&)> computes = [](const Problem& p) { return p.multiplies(); };
  // From the tunables, the tile in whose multiples a work-group does so.
  std::function<Multiples(const Tunables&)> tile = {};

  // How a problem's operands are stored, as far as that fixes tunables, as a number from 0 to 31; negative
  // when the kernel cannot compute the problem. And the tunables that this fixes: none beyond the last
  // number. A kernel without these is none for the planner to choose.
  std::function<int(const Problem&)> storage = {};
  std::function<Tunables(int storage)> fixed = {};
  std::vector<std::string> untimed = {};  // of these, those that its time does not depend on

  // Whether the problem gives such a setting enough to do; the planner passes over others.
  std::function<bool(const Problem&, const Tunables&)> suits = [](const Problem&, const Tunables&) {
    return true;
  };
  // Whether it adds up the products in another order than ascending k, which the level everywhere forbids.
  std::function<bool(const Tunables&)> reorders = [](const Tunables&) { return false; };

  bool splits_k = false;         // it can take a slice of k, told by more arguments (see plan/lower.cpp)
  bool adds_in_clusters = true;  // then, clusters of work-groups can add slices up, where a device has them
  bool stops_at_k = false;       // of the last tile along k, it multiplies only what is there, and no zeros
  bool worth_packing = false;    // it is worth having operands copied first (see pack.cl)
  bool skinny = false;           // for results of few rows or columns, and measured on such
  // Before it, both operands are split into pieces for tensor cores (see tensor/pieces.h), and after it a
  // kernel computes what pieces cannot hold. Its slices of k need no further step.
  bool splits_operands = false;
  bool for_cpus = false;  // a work-item of it has a core to itself (see cpu_plan.h)
};

// What every kernel has: those of the library, the ladder's (bench/rungs/rungs.h) and those that support
// either.
struct KernelSpec {
  std::string name;  // of the kernel function
  std::string path;  // of its file, under kernels/
  std::string idea;  // in a few words, for tables

  // The launch for rows x cols of output; bytes of local memory; what the sub-group size must be a multiple
  // of (1: any); what the tunables must keep to.
  std::function<Geometry(std::int64_t rows, std::int64_t cols, const Tunables&)> geometry = {};
  std::function<std::size_t(const Tunables&)> local_bytes = [](const Tunables&) { return std::size_t{0}; };
  std::function<int(const Tunables&)> sub_group_multiple = [](const Tunables&) { return 1; };
  std::vector<Rule> rules = {};
  int compute_capability = 0;  // that an NVIDIA device must have at the least; 0 for a kernel of any device
  bool newer_capabilities = true;  // or no other

  std::optional<GemmFacts> gemm = {};
};

// A setting of every tunable that the kernel's file declares: its own values, overridden by `overrides`.
// Throws invalid_argument naming the tunable and what is allowed: an unknown name, a value outside the
// declared range, or a combination that breaks one of the kernel's rules.
Tunables resolve(const KernelSpec& spec, const Tunables& overrides);

// The tunables that the problem fixes; nothing when the kernel cannot compute it.
std::optional<Tunables> fixed_tunables(const KernelSpec& spec, const Problem& problem);

// A setting as above of `chosen` with what the problem fixes. Throws invalid_argument, too, where the
// kernel does not take the problem or adds up k in an order that the problem's level does not allow.
Tunables resolve_for(const KernelSpec& spec, Tunables chosen, const Problem& problem);

// A kernel with a value for each of its tunables: one program, and what follows from the values.
struct Variant {
  const KernelSpec* spec;
  Tunables tunables;
  Multiples tile;           // see GemmFacts; 1 x 1 x 1 for kernels without them
  Extent local;             // work-items of a work-group
  std::size_t local_bytes;  // of a work-group
  bool large_local;         // which is an array that the launch tells the length of (see Geometry)
  bool reorders;            // see GemmFacts
  bool shuffles;
  bool awaits;             // see KernelSource
  double surely_resident;  // how many work-groups of it a GPU's compute unit has room for at the least
};

// The one variant with these tunables, all of the kernel's and legal. It lives as long as the process.
const Variant& variant_of(const KernelSpec& spec, const Tunables& tunables);

// Whether a value for every tunable, each within its range, keeps the kernel's rules.
bool keeps_rules(const KernelSpec& spec, const Tunables& tunables);

// Every setting that the declared ranges and the rules allow.
std::vector<Tunables> legal_settings(const KernelSpec& spec);

// A legal setting that agrees with `fixed`, as far as the kernel has those tunables, with as small a tile and
// as few work-items as changing two tunables at a time leads to. Throws invalid_argument when none agrees.
Tunables smallest_setting(const KernelSpec& spec, const Tunables& fixed);

// Why the device cannot run the kernel with these tunables, as far as can be told before compiling it.
std::optional<std::string> unsupported_reason(const Variant& kernel, const DeviceInfo& device);
std::optional<std::string> unsupported_reason(const KernelSpec& spec, const Tunables& tunables,
                                              const DeviceInfo& device);

// The library's kernels. Adding one is one file under kernels/gemm/ and one entry in gemm_kernels.cpp.
std::span<const KernelSpec> registry();

// Throws invalid_argument naming the kernels there are.
const KernelSpec& find_kernel(std::string_view name);
// The same, and where it is none that the planner may choose.
const KernelSpec& find_gemm_kernel(std::string_view name);

}  // namespace duogemm
