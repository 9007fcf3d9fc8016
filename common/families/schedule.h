// A schedule says how one multiplication is carried out: `select` answers it, and `lower` makes a plan of it.
#pragma once

#include <optional>
#include <string>

#include "families/kernel_spec.h"
#include "problem/problem.h"

namespace duogemm {

// The most work-groups that every device with clusters can have in one ("Thread Block Clusters" of CUDA's
// guide).
inline constexpr std::int64_t most_in_cluster = 8;

struct Schedule {
  const Variant* kernel = nullptr;     // that multiplies
  std::int64_t splits = 1;             // of k
  bool clustered = false;              // clusters of work-groups add the splits up, and not a further step
  bool pack_a = false;                 // A is first copied to where it can be read in vectors along m
  bool pack_b = false;                 // B is, along n
  std::optional<double> seconds = {};  // as the cost model predicts, where it was asked

  bool packs() const { return pack_a || pack_b; }
};

// "pipelined TSM=128 ... after packing A in 4 slices of k"
std::string to_text(const Schedule& schedule);

// A schedule as somebody asks for it: `tunables` are some of those that the problem leaves open.
struct ScheduleRequest {
  const KernelSpec* spec = nullptr;
  Tunables tunables = {};
  std::int64_t splits = 1;
  bool clustered = false;
  bool pack_a = false;
  bool pack_b = false;
};

// Reads "pipelined:TSM=64,TSN=64,slices=2,pack_a=1,pack_b=1,clustered=1". Throws invalid_argument; whether
// the kernel can have such tunables depends on the problem, and schedule_for() tells.
ScheduleRequest parse_schedule(const std::string& text);

// Throws invalid_argument where no problem can be done so. Whatever reads a request asks this.
void validate(const ScheduleRequest& request);

// The request for a problem, with the tunables that the problem fixes. Throws invalid_argument where the
// kernel cannot do the problem, or not with k split, or the tunables break its rules or the problem's level,
// and unsupported where the device cannot run it.
Schedule schedule_for(const ScheduleRequest& request, const Problem& problem, const DeviceInfo& device);

// The kernel must be able to split k, and the problem must allow it.
bool may_split(const KernelSpec& spec, const Problem& problem);

// Operands are packed for kernels that gain from it, and not for batches by lists.
bool may_pack(const KernelSpec& spec, const Problem& problem);

// The problem as it is when these operands have been packed.
Problem packed(const Problem& problem, bool pack_a, bool pack_b);

// The problem whose result goes to a workspace, where the partial sums of C that are to be added up lie
// one after the other, those of one member of the batch together.
Problem partial_sums(const KernelSpec& spec, const Problem& problem, std::int64_t splits);

// Each of `splits` splits but the last takes that much of k.
std::int64_t split_length(const Variant& kernel, std::int64_t k, std::int64_t splits);

}  // namespace duogemm
