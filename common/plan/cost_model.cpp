#include "plan/cost_model.h"

#include <algorithm>
#include <limits>

#include "problem/rounding.h"

namespace duogemm {
namespace {

// A GPU's compute unit has that many, and each takes whole sub-groups of that many work-items (warps).
constexpr std::size_t schedulers = 4;
constexpr std::size_t warp = 32;

std::size_t warps_of(const Variant& kernel) { return (kernel.local[0] * kernel.local[1] + warp - 1) / warp; }

// On the line through two measured points, the last of which have no fewer work-groups.
Timing between(const std::vector<Timing>& timings, double groups) {
  if (groups <= timings.front().groups) {
    return timings.front();
  }
  const auto to = std::find_if(timings.begin(), timings.end(),
                               [&](const Timing& timing) { return timing.groups >= groups; });
  const auto from = to - 1;
  const double share = (groups - from->groups) / (to->groups - from->groups);
  return {0, from->fixed + share * (to->fixed - from->fixed),
          from->per_k + share * (to->per_k - from->per_k)};
}

// Work-groups of less than four warps leave schedulers without work in their last wave.
double whole_waves(double groups, const Candidate& candidate) {
  return groups <= static_cast<double>(schedulers)
             ? groups
             : whole_up(groups / candidate.whole_groups) * candidate.whole_groups;
}

// A unit takes this long to serve that many work-groups. Beyond the measured points every work-group adds its
// share of the last: a line through the last two would promise too much of small tiles, which do not fill a
// unit yet at that point. There is one launch all the same.
Timing serving(double groups, const Candidate& candidate, double launch) {
  const double waves = whole_waves(groups, candidate);
  if (waves < static_cast<double>(candidate.timings.size())) {
    return candidate.timings[static_cast<std::size_t>(waves)];
  }
  if (waves <= candidate.most_groups) {
    return between(candidate.calibration->timings, waves);
  }
  const Timing& last = candidate.calibration->timings.back();
  const double times = waves / candidate.most_groups;
  const double once = std::min(launch, last.fixed);
  return {0, once + times * (last.fixed - once), times * last.per_k};
}

// Counts the work-groups in clusters that are resident when each unit has room for `each`. A cluster stays
// within a group of units (GPC), and larger ones than two leave some units out.
double resident_groups(double each, double cluster, const CostFacts& facts) {
  if (cluster <= 2.0) {
    return facts.units * each;
  }
  return cluster * (facts.whole_groups * whole_down(facts.group_units * each / cluster) +
                    whole_down(facts.rest_units * each / cluster));
}

// The busiest unit decides how long all take: waves are whole. Where clusters have taken all the room there
// is, the next ones wait until enough of it is free again.
Timing busiest_unit(double groups, const Split& split, const Candidate& candidate, const CostFacts& facts) {
  const auto serves = [&](double each) { return serving(each, candidate, facts.launch); };
  if (!split.clustered() || facts.group_units <= 0.0) {
    return serves(whole_up(groups / facts.units));
  }
  const double room = candidate.resident;
  const auto splits = static_cast<double>(split.count);
  const double at_once = std::max(resident_groups(room, splits, facts), splits);
  const double rounds = whole_down(groups / at_once);
  const double rest = groups - rounds * at_once;
  double each = whole_up(rest / facts.units);
  while (resident_groups(each, splits, facts) < rest && each < room) {
    ++each;
  }
  if (rounds == 0.0 || each == 0.0) {
    return serves(rounds * room + each);
  }
  const Timing full = serves(rounds * room);
  const Timing last = serves(each);
  return {0, full.fixed + std::max(last.fixed - facts.launch, 0.0), full.per_k + last.per_k};
}

}  // namespace

CostFacts::CostFacts(const Tuning& tuning, const DeviceInfo& device)
    : units(static_cast<double>(std::max<std::size_t>(device.compute_units, 1))),
      bandwidth(tuning.bandwidth),
      reading(tuning.reading > 0.0 ? tuning.reading : tuning.bandwidth),
      cached(tuning.cached > 0.0 ? tuning.cached : 2.0 * reading),
      cache(tuning.cache > 0.0 ? tuning.cache : 0.75 * static_cast<double>(device.cache_bytes)),
      launch(tuning.launch),
      // The device fills and drains once more. A step that is started early saves some of that.
      step(tuning.launch + (device.dependent_launch ? 0.5e-6 : 1e-6)),
      unit(64.0 * 1e6 * static_cast<double>(device.clock_mhz)),
      group_units(tuning.clusters.group_units),
      whole_groups(group_units > 0.0 ? whole_down(tuning.clusters.usable_units / group_units) : 0.0),
      rest_units(tuning.clusters.usable_units - whole_groups * group_units) {}

Candidate::Candidate(const Variant& of, const Calibration& measured, const CostFacts& facts)
    : kernel(&of),
      calibration(&measured),
      block_m(static_cast<double>(of.spec->family->block(of.tunables).m)),
      block_n(static_cast<double>(of.spec->family->block(of.tunables).n)),
      blocks(static_cast<double>(of.tile.m * of.tile.n) / (block_m * block_n)),
      most_groups(measured.timings.back().groups),
      whole_groups(static_cast<double>(std::max<std::size_t>(schedulers / warps_of(of), 1))),
      resident(of.surely_resident),
      multiple_k(of.spec->family->stops_at_k() ? 1 : of.tile.k),
      moves(of.spec->family->measured_on_skinny()),
      writes_by_itself(of.spec->family->writes_by_itself()),
      adding_split(of.spec->family->adds_in_last_group() && facts.unit > 0.0
                       ? sizeof(float) * static_cast<double>(of.tile.m * of.tile.n) / facts.unit
                       : 0.0),
      least_fixed(std::numeric_limits<double>::infinity()),
      least_per_k(least_fixed),
      least_per_group(least_fixed) {
  for (int groups = 0; groups <= std::min(measured.timings.back().groups, groups_at_once); ++groups) {
    timings.push_back(between(measured.timings, groups));
  }
  for (const Timing& timing : measured.timings) {
    least_fixed = std::min(least_fixed, timing.fixed);
    least_per_k = std::min(least_per_k, timing.per_k);
    least_per_group = std::min(least_per_group, timing.per_k / timing.groups);
  }
}

Traffic::Traffic(const Problem& problem, const CostFacts& facts) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  const auto batch = static_cast<double>(problem.batch);
  const bool strided = problem.batch_by == BatchBy::strides;
  const double a =
      (strided && problem.a_stride == 0 ? 1.0 : static_cast<double>(problem.members_of_a())) * m * k;
  const double b = (strided && problem.b_stride == 0 ? 1.0 : batch) * n * k;
  const double inputs = sizeof(float) * (a + b);
  const double result = sizeof(float) * batch * m * n;
  const double moved = problem.beta == 0.0f ? result : 2.0 * result;
  from_memory = inputs > facts.cache;
  if (facts.bandwidth <= 0.0) {
    seconds = writing = 0.0;
    in_clusters = in_step = in_turns = {};
    return;
  }
  writing = moved / facts.bandwidth;
  seconds = inputs / (from_memory ? facts.reading : facts.cached) + writing;
  constexpr double barriers = 0.8e-6;
  const double half = 0.5 * result / facts.bandwidth;
  in_clusters = {barriers - half, half};
  // Every partial sum is written and read again, out of the cache for the most part.
  in_step = {facts.step + 0.5 * moved / facts.bandwidth, 2.0 * half};
  in_turns = {-facts.step - 2.0 * half, facts.step + 2.0 * half};
}

double predict_seconds(const Traffic& traffic, const Candidate& candidate, const CostFacts& facts,
                       double groups, double depth, const Split& split) {
  const Timing timing = busiest_unit(groups, split, candidate, facts);
  const double begun = split.by == AddedBy::turns ? static_cast<double>(split.count) : 1.0;
  return with_traffic(begun * timing.fixed + depth * timing.per_k, traffic, candidate, facts, split);
}

double packing_seconds(double bytes, const CostFacts& facts) {
  constexpr double cached = 0.5;
  constexpr double uncached = 0.8;
  const double moved = 2.0 * bytes;
  return facts.step + moved / facts.bandwidth * (moved <= facts.cache ? cached : uncached);
}

}  // namespace duogemm
