// The choice among the production kernels: which one, with which tunables, and into how many parts K is
// split.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan.h"
#include "tuning.h"

namespace duogemm {

struct Choice {
  const KernelSpec* spec = nullptr;
  Tunables tunables;       // those that the problem leaves open
  std::int64_t parts = 1;  // of K
  bool repacked = false;   // operands are first copied to where they can be read in vectors along m and n
  bool turning = false;    // but for those that lie along k, which the kernel turns itself
  bool clustered = false;  // the parts are added up in clusters of work-groups, and not by a further step
  std::optional<double> seconds = {};  // as the cost model predicts, where it was asked
};

// "pipelined GROUP_M=8 TSM=128 ... in 4 parts of k"
std::string to_text(const Choice& choice);

// Reads "pipelined:TSM=64,TSN=64,parts=2,repacked=1,turning=1,clustered=1". Throws invalid_argument naming
// what is wrong and what is allowed; whether the kernel can have such tunables depends on the problem, and
// carry_out() tells.
Choice parse_choice(const std::string& text);

// Whether the kernel can split K, and the problem allows it.
bool may_split(const KernelSpec& spec, const Problem& problem);

// What one measured kernel offers for the problem: a choice for each sensible number of parts, in ascending
// order. None where it was measured on operands that are stored otherwise.
std::vector<Choice> choices_with(const Calibration& calibration, const Problem& problem,
                                 const DeviceInfo& device, const Tuning& tuning);

// Whatever the measurements in `tuning` allow for the problem, the fastest by prediction first; at least one.
// Nothing that splits K at the level `everywhere`.
std::vector<Choice> rank(const Problem& problem, const DeviceInfo& device, const Tuning& tuning);

// What the environment variable DUOGEMM_FORCE says, or else what was measured for this very shape, or else
// the first that ranks and that the device can run.
Choice choose(const Problem& problem, const DeviceInfo& device, const Tuning& tuning);

// More work-groups on each compute unit than this make a device no busier.
inline constexpr int groups_at_once = 12;

// Which operands repacking copies: those that the kernel could not read in vectors along m and n, or with
// `turning`, those of them that do not lie along k.
struct CopiedOperands {
  bool a = false;
  bool b = false;

  bool operator==(const CopiedOperands&) const = default;
};
CopiedOperands copied_by_repacking(const KernelSpec& spec, const Problem& problem, bool turning);

// The problem as it is when these operands have been copied.
Problem repacked(const Problem& problem, const CopiedOperands& copied);

// The most work-groups that every device with clusters can have in one (CUDA C++ Programming Guide, "Thread
// Block Clusters").
inline constexpr std::int64_t most_in_cluster = 8;

// The problem whose result goes to a workspace, where the parts of C that are to be added up lie behind each
// other, those of one member of the batch together.
Problem gathered(const KernelSpec& spec, const Problem& problem, std::int64_t parts);

// The steps that carry a choice out. Throws invalid_argument where the kernel cannot do the problem, or not
// in parts, or the tunables break its rules, and unsupported where the device cannot run it.
Plan carry_out(const Choice& choice, const Problem& problem, const DeviceInfo& device);

// Whether carry_out() would.
bool can_run(const Choice& choice, const Problem& problem, const DeviceInfo& device);

}  // namespace duogemm
