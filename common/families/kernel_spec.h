// A kernel's entry says what only the host can say. Everything else stands in the kernel's own file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/backend.h"
#include "families/family.h"
#include "families/tunables.h"

namespace duogemm {

// A condition on tunables, with the sentence that says what is wrong when it does not hold.
struct Rule {
  std::string reason;
  std::function<bool(const Tunables&)> holds;
};

// Every kernel has an entry: those of the library, the ladder's (bench/rungs/rungs.h) and those that support
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

  // Only kernels of the library that compute C have one.
  std::shared_ptr<const Family> family = {};

  // The planner may choose it.
  bool is_planned() const { return family && !family->storages().empty(); }
};

// A setting of every tunable that the kernel's file declares: its own values, overridden by `overrides`.
// Throws invalid_argument naming the tunable and what is allowed: an unknown name, a value outside the
// declared range, or a combination that breaks one of the kernel's rules.
Tunables resolve(const KernelSpec& spec, const Tunables& overrides);
Answer<Tunables> try_resolve(const KernelSpec& spec, const Tunables& overrides);

// The tunables that the problem fixes; nothing when the kernel cannot compute it.
std::optional<Tunables> fixed_tunables(const KernelSpec& spec, const Problem& problem);

// A kernel with a value for each of its tunables: one program, and what follows from the values.
struct Variant {
  const KernelSpec* spec;
  Tunables tunables;
  Multiples tile;           // see Family; 1 x 1 x 1 for kernels of none
  Extent local;             // work-items of a work-group
  std::size_t local_bytes;  // of a work-group
  bool dynamic_local;       // which is an array that the launch tells the length of (see Geometry)
  bool reorders;            // see Family
  bool shuffles;
  DeviceNeeds needs;
  double surely_resident;  // how many work-groups of it a GPU's compute unit has room for at the least
};

// The one variant with these tunables, all of the kernel's and legal. It lives as long as the process.
const Variant& variant_of(const KernelSpec& spec, const Tunables& tunables);

// The variant with these tunables and those that the problem fixes; or why there is none: as resolve() has
// it, or the kernel does not take the problem or adds up k in an order that the problem's level does not
// allow.
Answer<const Variant*> try_variant(const KernelSpec& spec, Tunables chosen, const Problem& problem);

// Tells whether a value for every tunable, each within its range, keeps the kernel's rules.
bool keeps_rules(const KernelSpec& spec, const Tunables& tunables);

// A legal setting that agrees with `fixed`, as far as the kernel has those tunables, with as small a tile and
// as few work-items as changing two tunables at a time leads to. Throws invalid_argument when none agrees.
Tunables smallest_setting(const KernelSpec& spec, const Tunables& fixed);

// Why the device cannot run the kernel with these tunables, as far as can be told before compiling it.
std::optional<std::string> unsupported_reason(const Variant& kernel, const DeviceInfo& device);
std::optional<std::string> unsupported_reason(const KernelSpec& spec, const Tunables& tunables,
                                              const DeviceInfo& device);

// Of a device that compiles nothing (DeviceInfo::programs): the program with these tunables, all of the
// kernel's; null where it has none.
const BuiltProgram* find_program(const DeviceInfo& device, std::string_view kernel, const Tunables& tunables);
// Its settings of a kernel, each once, without what the problem decides.
std::vector<Tunables> built_settings(const KernelSpec& spec, const DeviceInfo& device);
// "has no program of cpu_dots with COLS=8; it has COLS=1 and COLS=2"
std::string missing_program(std::string_view kernel, const Tunables& tunables, const DeviceInfo& device);

// The library's kernels. Adding one is one file under kernels/gemm/ and one entry in its family's file.
std::span<const KernelSpec> registry();

// Throws invalid_argument naming the kernels there are.
const KernelSpec& find_kernel(std::string_view name);
// The same, and where it is none that the planner may choose.
const KernelSpec& find_gemm_kernel(std::string_view name);

}  // namespace duogemm
