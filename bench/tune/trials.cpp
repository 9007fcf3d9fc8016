#include "tune/trials.h"

#include <algorithm>

#include "plan/lower.h"

namespace duogemm::bench {
namespace {

// Work-groups per compute unit.
constexpr int group_counts[] = {1, 2, 3, 4, 6, 8, 12, 32, 96};

// More than groups_at_once are measured where they are quick: small tiles and batches come in large numbers,
// and what a work-group costs then does not show in the time of a few.
constexpr double quick = 1e-3;

// The two depths that are told apart. A kernel for short sums is measured at the longest that it is for, and
// at a sixteenth of that.
constexpr std::int64_t shallow = 64;
constexpr std::int64_t deep = 1024;
constexpr std::int64_t times_deeper = deep / shallow;

// A second sum that takes about as long is not deep enough; there is an end to it.
constexpr double clearly_more = 2.0;
constexpr std::int64_t deepest = 1 << 14;

// Skinny results are made at the speed of the last cache: so much of it the long operand takes, which may be
// held twice where it has two halves.
constexpr double cached = 1.0 / 2.0;

// Two sums are told apart, the shorter of which is a quarter of the longer one. Where that would be less than
// a few vectors, there are too many rows to say anything.
constexpr std::int64_t shorter = 4;
constexpr std::int64_t shortest_of_skinny = 16;

// How many of the `groups` full tiles of a problem that is as square as can be stand one below the other.
std::int64_t tiles_along_m(const Multiples& tile, std::int64_t groups) {
  const auto longest = [&](std::int64_t along) {
    return std::max(tile.m * along, tile.n * (groups / along));
  };
  std::int64_t best = groups;
  for (std::int64_t along = 1; along < groups; ++along) {
    if (groups % along == 0 && longest(along) < longest(best)) {
      best = along;
    }
  }
  return best;
}

struct Measured {
  std::int64_t depth;
  double seconds;
};

Measured measure(const Calibrator& by, const Calibration& setting, const Problem& problem) {
  const std::optional<Schedule> schedule = schedule_of(setting, 1, problem, by.device);
  if (!schedule) {
    throw Error(Status::unsupported, "the kernel does not take such operands");
  }
  // The cost model adds what it takes to split operands into terms first.
  const bool multiply_alone = !setting.spec->family->multiplies_in(Precision::fp32);
  return {problem.k, by.stopwatch.seconds(*schedule, problem,
                                          {.hopeless = by.patience, .multiply_alone = multiply_alone})};
}

// k is all that counts when the longer sum takes no longer.
Timing timing_of(int groups, const Measured& little, const Measured& much) {
  if (much.seconds <= little.seconds) {
    return {groups, 0.0, much.seconds / static_cast<double>(much.depth)};
  }
  const double per_k = (much.seconds - little.seconds) / static_cast<double>(much.depth - little.depth);
  return {groups, std::max(little.seconds - static_cast<double>(little.depth) * per_k, 0.0), per_k};
}

// Nothing where there is no more to measure. `longest`: what the answer before took, for each group of
// `count`; becomes that of this one. Less deep where one execution takes longer than the patience.
std::optional<Timing> timing(const Calibrator& by, const Calibration& setting, const OperandKind& kind,
                             int count, double& longest) {
  const double expected = longest * count;
  if ((setting.timings.size() >= 2 && expected > by.patience) ||
      (count > groups_at_once && expected > std::min(quick, by.patience))) {
    return std::nullopt;
  }
  const std::int64_t groups = count * static_cast<std::int64_t>(by.device.compute_units);
  const Multiples tile = setting.spec->family->tile(setting.tunables);
  const std::int64_t along_m = tiles_along_m(tile, groups);
  const auto measured = [&](std::int64_t k) {
    return measure(by, setting, make_problem(kind, tile.m * along_m, tile.n * (groups / along_m), k));
  };
  const std::int64_t longest_k = std::min(setting.spec->family->longest_k(), deepest);
  const Measured little = measured(std::min(shallow, longest_k / times_deeper));
  const bool is_slow = little.seconds * static_cast<double>(times_deeper) > by.patience;
  Measured much = measured((is_slow ? 4 : times_deeper) * little.depth);
  while (much.seconds < clearly_more * little.seconds && much.seconds < by.patience &&
         much.depth < longest_k) {
    much = measured(4 * much.depth);
  }
  longest = much.seconds / count;
  return timing_of(count, little, much);
}

// The same; `longest` is of skinny operands altogether. With a long operand that fills much of the cache, and
// with a short one: that says best what does not depend on k.
std::optional<Timing> skinny_timing(const Calibrator& by, const Calibration& setting, const OperandKind& kind,
                                    int count, double& longest) {
  const std::int64_t rows = count * setting.spec->family->tile(setting.tunables).m *
                            static_cast<std::int64_t>(by.device.compute_units);
  const auto fitting =
      static_cast<std::int64_t>(cached * by.cache / (sizeof(float) * static_cast<double>(rows)));
  const bool is_first = setting.timings.empty();
  if (longest > by.patience || (fitting < shortest_of_skinny && !is_first)) {
    return std::nullopt;
  }
  const auto measured = [&](std::int64_t depth) {
    return measure(by, setting, make_problem(kind, rows, kind.skinny, depth));
  };
  const Measured much = measured(std::max(fitting, shortest_of_skinny));
  const Measured little = measured(std::min(much.depth / shorter, shallow));
  longest = much.seconds;
  return timing_of(count, little, much);
}

}  // namespace

std::optional<Schedule> schedule_of(const Calibration& setting, std::int64_t splits, const Problem& problem,
                                    const DeviceInfo& device) {
  const Schedule schedule = schedule_for({setting.spec, setting.tunables, splits}, problem, device);
  return schedule.kernel->tunables == setting.tunables ? std::optional(schedule) : std::nullopt;
}

// Numbers of very different size are not for tensor cores: another kernel computes what they leave out.
EdgeCheck::Edge::Edge(const Problem& problem, Device& device, Queue& queue)
    : host(random_problem(
          problem,
          problem.precision == Precision::fp32 ? Distribution::wide_range : Distribution::signed_unit, 1)),
      judge(host),
      operands(host, device, queue) {}

EdgeCheck::EdgeCheck(const OperandKind& kind, Device& device, Queue& queue, ProgramCache& programs)
    : device_(device), queue_(queue), programs_(programs) {
  for (const Problem& problem : edge_problems(kind)) {
    edges_.emplace_back(problem, device, queue);
  }
}

std::string EdgeCheck::fault(const KernelSpec& spec, const Tunables& tunables) {
  constexpr std::int64_t several_splits = 3;
  for (Edge& edge : edges_) {
    if (std::string found = fault(edge, {&spec, tunables, {}}, 1); !found.empty()) {
      return found;
    }
  }
  return spec.family->splits_k() ? fault(edges_.front(), {&spec, tunables, {}}, several_splits) : "";
}

// Sums in another order are right within the bound; others to the bit.
std::string EdgeCheck::fault(Edge& edge, const Calibration& setting, std::int64_t splits) {
  const Problem& p = edge.host.problem;
  const auto schedule = schedule_of(setting, splits, p, device_.info());
  if (!schedule) {
    return "";
  }
  const SelfContainedPlan prepared(lower(*schedule, p, device_.info()), device_, programs_);
  edge.operands.restore_c(queue_);
  prepared.enqueue(queue_, edge.operands.operands());
  const Verdict found = edge.judge.look_at_all(edge.operands, queue_);
  if (found.ok() && (splits > 1 || schedule->kernel->reorders || found.same_bits())) {
    return "";
  }
  return "M=" + std::to_string(p.m) + " N=" + std::to_string(p.n) + " K=" + std::to_string(p.k) + " in " +
         std::to_string(splits) + " slices of k: " + found.fault();
}

Calibration Calibrator::calibrate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind,
                                  const Promising& promising) const {
  Calibration result{&spec, tunables, {}};
  double longest = 0.0;
  for (const int count : group_counts) {
    if (result.timings.size() == 2 && !promising(result.timings)) {
      break;
    }
    const auto measured = (kind.skinny != 0 ? skinny_timing : timing)(*this, result, kind, count, longest);
    if (!measured) {
      break;
    }
    result.timings.push_back(*measured);
  }
  return result;
}

}  // namespace duogemm::bench
