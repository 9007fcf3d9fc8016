// A family is what the host knows of kernels that compute C. There are four, each in a file of its own
// (tiled.cpp, skinny.cpp, tensor.cpp, cpu.cpp): a kernel is an object of its family, and the planner asks it
// through this interface alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_info.h"
#include "families/tunables.h"
#include "problem/problem.h"
#include "system/reject.h"

namespace duogemm {

struct Calibration;
struct KernelSpec;
struct Plan;
struct Schedule;
struct UnmeasuredGpu;
struct Variant;

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
  virtual int storage(const Problem&) const { return -1; }
  // A kernel without any is none for the planner to choose.
  const std::vector<Storage>& storages() const { return storages_; }
  // Nobody measures a kernel that is chosen by the problem's shape alone.
  bool is_measured() const { return !storages_.empty() && !storages_.front().fixed.empty(); }
  // Tunables that every problem decides are not for the user to choose.
  virtual bool decides(std::string_view tunable) const;

  // The tile of C and k that a work-group computes at once.
  virtual Multiples tile(const Tunables& tunables) const = 0;
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
  // A split's length is a multiple of this.
  virtual std::int64_t split_multiple(const Multiples& tile) const { return tile.k; }
  // Columns of partial sums are padded for writes in vectors.
  virtual bool pads_partial_sums() const { return true; }
  // It gains from operands that are copied first to where they can be read in vectors.
  virtual bool gains_from_packing() const { return false; }

  // The program for a problem when these tunables are asked for, or why there is none (see try_variant).
  virtual Answer<const Variant*> variant(const KernelSpec& spec, const Tunables& asked,
                                         const Problem& problem) const;
  // The tunables to use for a problem on a device where no kernel was measured, if this one is to be taken.
  // Of a CPU, the block that fills its registers may have been `measured`.
  virtual std::optional<Tunables> unmeasured(const Problem&, const DeviceInfo&, const Tunables&) const {
    return std::nullopt;
  }
  // The cost in cycles of a few settings, for a GPU where nothing was measured.
  virtual std::vector<Calibration> calculated(const KernelSpec& spec, const UnmeasuredGpu& gpu) const;

  // The steps that carry a schedule of this kernel out, and the programs of those besides its own. Most
  // families pack operands, multiply, and add the splits of k up.
  virtual Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const;
  virtual std::vector<const Variant*> companions(const Variant& kernel) const;

 protected:
  // `untimed` are the tunables that the storage fixes and the kernel's time does not depend on.
  explicit Family(const std::vector<Tunables>& fixed = {}, const std::vector<std::string>& untimed = {});

 private:
  std::vector<Storage> storages_;
};

}  // namespace duogemm
