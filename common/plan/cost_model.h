// How long a multiplication takes, predicted from a few measurements of its kernel (see README.md).
#pragma once

#include "plan/tuning.h"
#include "problem/problem.h"

namespace duogemm {

// What of a device the model wants to know.
struct CostFacts {
  CostFacts(const Tuning& tuning, const DeviceInfo& device);

  double units;      // compute units
  double bandwidth;  // of memory, bytes per second, reading and writing; 0 when unknown
  double reading;    // the same of reading alone
  double cached;     // and of reading what the last cache holds
  double cache;      // bytes that it holds
  double launch;     // seconds that a kernel without work takes
  double step;       // seconds that another kernel in the plan costs besides its work
  ClusterFacts clusters;
};

// What a problem moves, for any kernel.
struct Traffic {
  Traffic(const Problem& problem, const CostFacts& facts);

  double inputs;     // bytes of A and B, each once
  double result;     // bytes of C
  double moved;      // the same, twice where C is read too
  bool from_memory;  // no cache holds the operands
  double seconds;    // that this takes
};

// A kernel for problems that are stored in one way, with what was measured of it. What the search asks of
// each lies side by side here: to look it up elsewhere takes longer than to predict with it.
struct Candidate {
  Candidate(const Variant& kernel, const Calibration& calibration);

  const Variant* kernel;
  const Calibration* calibration;
  double tile_m;  // as the kernel has it
  double tile_n;
  double most_groups;      // on a compute unit, of which it was measured
  bool skinny;             // as its facts say
  double least_fixed;      // seconds that work-groups take whatever k, at the least
  double least_per_k;      // seconds for each k, at the least
  double least_per_group;  // the same of each work-group, where a unit is as busy as is best
};

// k in slices, which clusters of work-groups add up or a further step.
struct Split {
  std::int64_t slices = 1;
  bool clustered = false;
};

// `groups` is how many work-groups there are in all, each of them over `depth` of k.
double predict_seconds(const Traffic& traffic, const Candidate& candidate, const CostFacts& facts,
                       double groups, double depth, const Split& split);

// Of a kernel that multiplies for so long, with what it moves and what adding up the slices takes.
double with_traffic(double multiplying, const Traffic& traffic, const Candidate& candidate,
                    const CostFacts& facts, const Split& split);

// What packing operands of so many bytes takes, each of which is read and written once.
double packing_seconds(double bytes, const CostFacts& facts);

}  // namespace duogemm
