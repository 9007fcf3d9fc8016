// What the host says of kernels, in an entry for each, and of their families. All else stands in their files.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/backend.h"
#include "families/kernel_source.h"
#include "problem/problem.h"
#include "system/reject.h"

namespace duogemm {

class Family;
struct Plan;
struct Schedule;

// M, N and K of the operands that a kernel is given are multiples of these.
struct Multiples {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
};

// One way in which a problem may store its operands, as far as a kernel is compiled for it.
struct Storage {
  Tunables fixed;  // the tunables that it decides
  Tunables timed;  // those of them that the kernel's time depends on
};

// A condition on tunables, with the sentence that says what is wrong when it does not hold.
struct Rule {
  std::string reason;
  std::function<bool(const Tunables&)> holds;
};

// Every kernel has an entry, be it the library's or the ladder's (bench/rungs/rungs.h).
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
  bool is_planned() const;
};

// A setting of every tunable that the kernel's file declares: its own values, overridden by `overrides`.
// Throws invalid_argument naming the tunable and what is allowed: an unknown name, a value outside the
// declared range, or a combination that breaks one of the kernel's rules.
Tunables resolve(const KernelSpec& spec, const Tunables& overrides);

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

// The variant with these tunables and those that the problem fixes. Throws as resolve() does, and where the
// kernel does not take the problem or adds up k in an order that its level forbids.
const Variant& variant_for(const KernelSpec& spec, const Tunables& chosen, const Problem& problem);

// Tells whether a value for every tunable, each within its range, keeps the kernel's rules.
bool keeps_rules(const KernelSpec& spec, const Tunables& tunables);

// Calls `look` with each setting that differs from `from` in one or two of these tunables at most. What
// `look` makes of `from` counts for the settings that follow.
void for_each_change(const std::vector<TunableDeclaration>& tunables, const Tunables& from,
                     const std::function<void(const Tunables& changed)>& look);

// A legal setting that agrees with `fixed`, as far as the kernel has those tunables, with as small a tile and
// as few work-items as changing two tunables at a time leads to. Throws invalid_argument when none agrees.
Tunables smallest_setting(const KernelSpec& spec, const Tunables& fixed);

// Why the device cannot run the kernel with these tunables, as far as can be told before compiling it.
std::optional<std::string> unsupported_reason(const Variant& kernel, const DeviceInfo& device);
std::optional<std::string> unsupported_reason(const KernelSpec& spec, const Tunables& tunables,
                                              const DeviceInfo& device);

// For a device whose kernels were compiled with the library (DeviceInfo::programs): the program with these
// tunables, all of the kernel's; null where it has none.
const BuiltProgram* find_program(const DeviceInfo& device, std::string_view kernel, const Tunables& tunables);
// Its settings of a kernel, each once, without what the problem decides.
std::vector<Tunables> built_settings(const KernelSpec& spec, const DeviceInfo& device);

// The library's kernels. Adding one is one file under kernels/gemm/ and one entry in its family's file.
std::span<const KernelSpec> registry();

// Throws invalid_argument naming the kernels there are.
const KernelSpec& find_kernel(std::string_view name);
// The same, and where it is none that the planner may choose.
const KernelSpec& find_gemm_kernel(std::string_view name);

// Work-groups of a kernel, `groups` of which share a compute unit, take `fixed` seconds, and `per_k` for each
// k.
struct Timing {
  int groups;
  double fixed;
  double per_k;
};

// One kernel with all its tunables, and its timings in ascending number of work-groups.
struct Calibration {
  const KernelSpec* spec;
  Tunables tunables;
  std::vector<Timing> timings;
};

// Of the bytes that a GPU's memory moves for kernels that read alone, it moves that share for those that
// write as much (H100 and H200).
inline constexpr double written_share = 0.68;

// A GPU of which only is known what it says of itself, and what GPUs of the last ten years have in common.
struct UnmeasuredGpu {
  explicit UnmeasuredGpu(const DeviceInfo& device);

  // The kernel's work-groups, up to that many on a compute unit, do `work` for each k, of which a busy
  // unit does `rate` in a second.
  Calibration calibration(const Variant& kernel, int most_groups, double work, double rate) const;

  const DeviceInfo& device;
  double units;      // compute units
  double clock;      // cycles per second
  double lanes;      // multiply-adds of a compute unit in one cycle
  double reading;    // of memory, bytes per second
  double bandwidth;  // the same of reading and writing
  double launch = 3e-6;
  double fixed = launch + 1e-6;  // with a work-group's first tile, and emptying
};

// A family is what the host knows of kernels that compute C. There are five, each in a file of its own
// (tiled.cpp, direct.cpp, skinny.cpp, tensor.cpp, cpu.cpp): a kernel is an object of its family, and the
// planner asks it through this interface alone.
class Family {
 public:
  virtual ~Family() = default;

  // Which problems it computes, on which devices, and in which precisions it does.
  virtual bool computes(const Problem& problem) const {
    return problem.multiplies() && storage(problem) >= 0;
  }
  virtual bool runs_on(DeviceKind kind) const { return kind != DeviceKind::cpu; }
  virtual bool multiplies_in(Precision precision) const { return precision == Precision::fp32; }

  // Which of storages() the problem's operands are; negative when the kernel cannot compute the problem.
  int storage(const Problem& problem) const {
    return problem.is_grouped() && !takes_groups() ? -1 : storage_of(problem);
  }
  // It computes grouped products.
  virtual bool takes_groups() const { return false; }
  // A kernel without any is none for the planner to choose.
  const std::vector<Storage>& storages() const { return storages_; }
  // Nobody measures a kernel that is chosen by the problem's shape alone.
  virtual bool is_measured() const { return is_fixed_by_storage(); }
  // Tunables that every problem decides are not for the user to choose.
  virtual bool decides(std::string_view tunable) const;

  // The tile of C and k that a work-group computes at once.
  virtual Multiples tile(const Tunables& tunables) const = 0;
  // What a result is cut into: the tile, but where a work-group takes several blocks, which are numbered one
  // after the other.
  virtual Multiples block(const Tunables& tunables) const { return tile(tunables); }
  // The longest sum that it is worthwhile for, and measured with.
  virtual std::int64_t longest_k() const { return std::numeric_limits<std::int64_t>::max(); }
  // It multiplies no zeros at the end of k, where others complete a tile.
  virtual bool stops_at_k() const { return false; }
  // It adds up the products in another order than ascending k, which the level everywhere forbids.
  virtual bool reorders(const Tunables&) const { return false; }
  // The planner passes over settings for which the problem has too little to do.
  virtual bool worthwhile(const Problem&, const Tunables&) const { return true; }
  // It is measured on results of few rows or columns, with what those move.
  virtual bool measured_on_skinny() const { return false; }

  // It can take a split of k. Clusters of work-groups can then add the splits up, where a device has them.
  virtual bool splits_k() const { return false; }
  virtual bool adds_in_clusters() const { return true; }
  // Where clusters do not, the last work-group of a tile adds its splits up, and not a further step.
  virtual bool adds_in_last_group() const { return false; }
  // Its work-groups multiply nothing while they write, each 32 bytes of a column by themselves.
  virtual bool writes_by_itself() const { return false; }
  // A split's length is a multiple of this.
  virtual std::int64_t split_multiple(const Multiples& tile) const { return tile.k; }
  // Columns of partial sums are padded for writes in vectors.
  virtual bool pads_partial_sums() const { return true; }
  // It reads operands of 16-bit elements as they are; for others these are copied to FP32 first.
  virtual bool reads_narrow() const { return false; }
  // It gains from operands that are copied first to where they can be read in vectors.
  virtual bool gains_from_packing() const { return false; }

  // The program for a problem when these tunables are asked for (see variant_for).
  virtual const Variant& variant(const KernelSpec& spec, const Tunables& asked,
                                 const Problem& problem) const {
    return variant_for(spec, asked, problem);
  }
  // The tunables to use for a problem on a device where no kernel was measured, if this one is to be taken.
  // Of a CPU, the block that fills its registers may have been `measured`.
  virtual std::optional<Tunables> unmeasured(const Problem&, const DeviceInfo&, const Tunables&) const {
    return std::nullopt;
  }
  // The cost in cycles of a few settings, for a GPU where nothing was measured.
  virtual std::vector<Calibration> calculated(const KernelSpec&, const UnmeasuredGpu&) const { return {}; }

  // The steps that carry a schedule of this kernel out, and the programs of those besides its own. Most
  // families pack operands, multiply, and add the splits of k up.
  virtual Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const;
  virtual std::vector<const Variant*> companions(const Variant&) const { return {}; }

 protected:
  // `untimed` are the tunables that the storage fixes and the kernel's time does not depend on.
  explicit Family(const std::vector<Tunables>& fixed = {}, const std::vector<std::string>& untimed = {});

 private:
  virtual int storage_of(const Problem&) const { return -1; }
  bool is_fixed_by_storage() const { return !storages_.empty() && !storages_.front().fixed.empty(); }

  std::vector<Storage> storages_;
};

// They are listed family by family.
std::vector<KernelSpec> tiled_kernels();
std::vector<KernelSpec> direct_kernels();
std::vector<KernelSpec> skinny_kernels();
std::vector<KernelSpec> cpu_kernels();
std::vector<KernelSpec> supporting_kernels();
std::vector<KernelSpec> tensor_kernels();

}  // namespace duogemm
