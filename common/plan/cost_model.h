// Predicts how long a multiplication takes from a few measurements of its kernel (see README.md).
#pragma once

#include <algorithm>
#include <boost/container/static_vector.hpp>

#include "plan/tuning.h"
#include "problem/problem.h"
#include "problem/rounding.h"

namespace duogemm {

// More work-groups on each compute unit than this make a device no busier.
inline constexpr int groups_at_once = 12;

// The model wants to know this of a device.
struct CostFacts {
  CostFacts(const Tuning& tuning, const DeviceInfo& device);

  double units;      // compute units
  double bandwidth;  // of memory, bytes per second, reading and writing; 0 when unknown
  double reading;    // the same of reading alone
  double cached;     // and of reading what the last cache holds
  double cache;      // bytes that it holds
  double launch;     // seconds that a kernel without work takes
  double step;       // seconds that another kernel in the plan costs besides its work
  double unit;       // bytes per second that a compute unit alone reads from the last cache; 0 when unknown
  // Clusters of more than two work-groups find room here: units of a group, the groups that are whole, and
  // units that are left. 0: anywhere.
  double group_units;
  double whole_groups;
  double rest_units;
};

// A problem moves the same for any kernel.
struct Traffic {
  // Seconds that adding up the splits of k takes, where there are several.
  struct Adding {
    double once;
    double each;  // split
  };

  Traffic(const Problem& problem, const CostFacts& facts);

  bool from_memory;  // no cache holds the operands
  double seconds;    // that moving A, B and C takes
  double writing;    // of these, for C
  Adding in_clusters;
  Adding in_step;
  Adding in_turns;
};

// A kernel for problems that are stored in one way, with what was measured of it. What the search asks of
// each lies side by side here: to look it up elsewhere takes longer than to predict with it.
struct Candidate {
  Candidate(const Variant& kernel, const Calibration& calibration, const CostFacts& facts);

  // Work-groups for a member of the batch, or a share of one. Exact: sizes are far below 2^53. On average
  // half of a group's last tile has no columns.
  double groups(const Problem& problem) const {
    return whole_up(static_cast<double>(problem.m) / block_m) *
           whole_up(static_cast<double>(problem.n) / block_n + 0.5 * static_cast<double>(problem.groups)) /
           blocks;
  }
  // No split of k makes it faster than all units are, when all of them are busy to the end, or than a
  // work-group is that has a unit to itself, with as short a split as there may be.
  double least_seconds(double groups, double k, double shortest, const CostFacts& facts) const {
    return least_fixed + std::max(groups / facts.units * k * least_per_group, shortest * least_per_k);
  }
  // The same of one split: waves are whole.
  double least_in_waves(double groups, double depth, const CostFacts& facts) const {
    return least_fixed + depth * std::max(whole_up(groups / facts.units) * least_per_group, least_per_k);
  }

  const Variant* kernel;
  const Calibration* calibration;
  double block_m;  // as the kernel's family has it
  double block_n;
  double blocks;            // of a work-group
  double most_groups;       // on a compute unit, of which it was measured
  double whole_groups;      // of that many each, a compute unit's schedulers all have work in a last wave
  double resident;          // work-groups that a compute unit has room for, at the least
  std::int64_t multiple_k;  // a work-group multiplies a multiple of it along k, zeros at the end
  bool moves;               // it was measured with what it moves
  bool writes_by_itself;    // its work-groups multiply nothing while they write
  double adding_split;      // seconds for each split that a tile's last work-group adds up; 0: a step does
  double least_fixed;       // seconds that work-groups take whatever k, at the least
  double least_per_k;       // seconds for each k, at the least
  double least_per_group;   // the same of each work-group, where a unit is as busy as is best
  // By the work-groups on a compute unit, from none to those that were measured, or to groups_at_once.
  boost::container::static_vector<Timing, groups_at_once + 1> timings;
};

// Who adds up the splits of k: clusters of work-groups, a further step (or a tile's last work-group in its
// place), or each split, which is launched after those before it, for itself.
enum class AddedBy { cluster, step, turns };
struct Split {
  std::int64_t count = 1;
  AddedBy by = AddedBy::step;

  bool clustered() const { return by == AddedBy::cluster && count > 1; }
};

// `groups` is how many work-groups there are at once, each of them over `depth` of k in all.
double predict_seconds(const Traffic& traffic, const Candidate& candidate, const CostFacts& facts,
                       double groups, double depth, const Split& split);

// Adds to the time for which a kernel multiplies what it moves, and what adding up the splits takes.
inline double with_traffic(double multiplying, const Traffic& traffic, const Candidate& candidate,
                           const CostFacts& facts, const Split& split) {
  // A line through two depths may promise less for a short k than a kernel without work takes.
  double seconds = std::max(multiplying, facts.launch);
  if (traffic.from_memory || !candidate.moves) {
    // Both go on at the same time. The shorter one is not hidden altogether.
    constexpr double visible = 0.05;
    const double meanwhile = candidate.writes_by_itself ? traffic.seconds - traffic.writing : traffic.seconds;
    seconds = std::max(seconds, meanwhile) + visible * std::min(seconds, meanwhile);
  }
  seconds += candidate.writes_by_itself ? traffic.writing : 0.0;
  const Traffic::Adding& adding = split.by == AddedBy::cluster ? traffic.in_clusters
                                  : split.by == AddedBy::step  ? traffic.in_step
                                                               : traffic.in_turns;
  if (split.count <= 1) {
    return seconds;
  }
  const auto count = static_cast<double>(split.count);
  return split.by == AddedBy::step && candidate.adding_split > 0.0
             ? seconds + count * (candidate.adding_split + adding.each)
             : seconds + adding.once + count * adding.each;
}

// Packing reads and writes each byte of the operands once.
double packing_seconds(double bytes, const CostFacts& facts);

}  // namespace duogemm
