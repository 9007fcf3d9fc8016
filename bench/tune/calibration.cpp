#include "tune/calibration.h"

#include <algorithm>
#include <cmath>

#include "plan/lower.h"

namespace duogemm::bench {
namespace {

// Work-groups per compute unit.
constexpr int group_counts[] = {1, 2, 3, 4, 6, 8, 12, 32, 96};

// More than groups_at_once are measured where they are quick: small tiles and batches come in large numbers,
// and what a work-group costs then does not show in the time of a few.
constexpr double quick = 1e-3;

constexpr std::int64_t shallow = 64;
constexpr std::int64_t deep = 1024;

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

// Sizes of a problem that has `groups` full tiles.
struct Tiled {
  std::int64_t m;
  std::int64_t n;
};

// The problem is as square as can be.
Tiled problem_of(const Multiples& tile, std::int64_t groups) {
  Tiled best{tile.m * groups, tile.n};
  for (std::int64_t along = 1; along <= groups; ++along) {
    if (groups % along == 0) {
      const Tiled size{tile.m * along, tile.n * (groups / along)};
      if (std::max(size.m, size.n) < std::max(best.m, best.n)) {
        best = size;
      }
    }
  }
  return best;
}

struct Measured {
  std::int64_t depth;
  double seconds;
};

// k is all that counts when the longer sum takes no longer.
Timing timing_of(int groups, const Measured& little, const Measured& much) {
  if (much.seconds <= little.seconds) {
    return {groups, 0.0, much.seconds / static_cast<double>(much.depth)};
  }
  const double per_k = (much.seconds - little.seconds) / static_cast<double>(much.depth - little.depth);
  return {groups, std::max(little.seconds - static_cast<double>(little.depth) * per_k, 0.0), per_k};
}

}  // namespace

std::optional<Schedule> schedule_of(const Calibration& setting, std::int64_t splits, const Problem& problem,
                                    const DeviceInfo& device) {
  const Schedule schedule = schedule_for({setting.spec, setting.tunables, splits}, problem, device);
  return schedule.kernel->tunables == setting.tunables ? std::optional(schedule) : std::nullopt;
}

Calibrator::Calibrator(Stopwatch& stopwatch, const DeviceInfo& device, double cache, double patience)
    : stopwatch_(stopwatch), device_(device), cache_(cache), patience_(patience) {}

Calibration Calibrator::calibrate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind,
                                  const Promising& promising) {
  Calibration result{&spec, tunables, {}};
  double longest = 0.0;
  for (const int count : group_counts) {
    if (result.timings.size() == 2 && !promising(result.timings)) {
      break;
    }
    const auto measured =
        kind.skinny != 0 ? skinny_timing(result, kind, count, longest) : timing(result, kind, count, longest);
    if (!measured) {
      break;
    }
    result.timings.push_back(*measured);
  }
  return result;
}

double Calibrator::seconds(const Calibration& setting, const Problem& problem) {
  const std::optional<Schedule> schedule = schedule_of(setting, 1, problem, device_);
  if (!schedule) {
    throw Error(Status::unsupported, "the kernel does not take such operands");
  }
  // The cost model adds what it takes to split operands into terms first.
  return stopwatch_.seconds(lower(*schedule, problem, device_), problem,
                            {.samples = 3,
                             .sample_seconds = 1e-4,
                             .hopeless = patience_,
                             .multiply_alone = !setting.spec->family->multiplies_in(Precision::fp32)});
}

// Less deep where one execution takes longer than the patience.
std::optional<Timing> Calibrator::timing(const Calibration& setting, const OperandKind& kind, int count,
                                         double& longest) {
  const double expected = longest * count;
  if ((setting.timings.size() >= 2 && expected > patience_) ||
      (count > groups_at_once && expected > std::min(quick, patience_))) {
    return std::nullopt;
  }
  const std::int64_t groups = count * static_cast<std::int64_t>(device_.compute_units);
  const Tiled size = problem_of(setting.spec->family->tile(setting.tunables), groups);
  const auto seconds_for = [&](std::int64_t k) {
    return seconds(setting, make_problem(kind, size.m, size.n, k));
  };
  const double little = seconds_for(shallow);
  std::int64_t depth = little * (double{deep} / double{shallow}) > patience_ ? 4 * shallow : deep;
  double much = seconds_for(depth);
  while (much < clearly_more * little && much < patience_ && depth < deepest) {
    depth *= 4;
    much = seconds_for(depth);
  }
  longest = much / count;
  return timing_of(count, {shallow, little}, {depth, much});
}

// With a long operand that fills much of the cache, and with a short one: that says best what does not depend
// on k.
std::optional<Timing> Calibrator::skinny_timing(const Calibration& setting, const OperandKind& kind,
                                                int count, double& longest) {
  const std::int64_t rows = count * setting.spec->family->tile(setting.tunables).m *
                            static_cast<std::int64_t>(device_.compute_units);
  const auto fitting =
      static_cast<std::int64_t>(cached * cache_ / (sizeof(float) * static_cast<double>(rows)));
  const bool is_first = setting.timings.empty();
  if (longest > patience_ || (fitting < shortest_of_skinny && !is_first)) {
    return std::nullopt;
  }
  const auto measured = [&](std::int64_t depth) {
    return Measured{depth, seconds(setting, make_problem(kind, rows, kind.skinny, depth))};
  };
  const Measured much = measured(std::max(fitting, shortest_of_skinny));
  const Measured little = measured(std::min(much.depth / shorter, shallow));
  longest = much.seconds;
  return timing_of(count, little, much);
}

}  // namespace duogemm::bench
