#include "calibration.h"

#include <algorithm>
#include <cmath>

#include "planner.h"

namespace duogemm::bench {
namespace {

// Work-groups per compute unit.
constexpr int group_counts[] = {1, 2, 3, 4, 6, 8, 12, 32, 96};

// More than groups_at_once are measured where they are quick: small tiles and batches come in large numbers,
// and what a work-group costs then does not show in the time of a few.
constexpr double quick = 1e-3;

constexpr std::int64_t shallow = 64;
constexpr std::int64_t deep = 1024;

// Where both take about as long, the second is not deep enough; there is an end to it.
constexpr double clearly_more = 2.0;
constexpr std::int64_t deepest = 1 << 14;

// Thin results are made at the speed of memory, so that they are measured on more than a cache holds.
constexpr std::int64_t deepest_thin = 1 << 20;

std::int64_t uncached_depth(const DeviceInfo& device, std::int64_t rows) {
  const auto bytes = static_cast<std::int64_t>(2 * device.cache_bytes);
  return std::clamp(bytes / (rows * static_cast<std::int64_t>(sizeof(float))), deep, deepest_thin);
}

// Sizes of a problem that has `groups` full tiles.
struct Tiled {
  std::int64_t m;
  std::int64_t n;
};

// As square as can be, unless it is to be thin.
Tiled problem_of(const Multiples& tile, const OperandKind& kind, std::int64_t groups) {
  if (kind.thin != 0) {
    return {tile.m * groups, kind.thin};
  }
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

// From the times for `shallow` and for `depth`; where those make no sense, k is all that counts.
Timing timing_of(int groups, double little, double much, std::int64_t depth) {
  if (much <= little) {
    return {groups, 0.0, much / static_cast<double>(depth)};
  }
  const double per_k = (much - little) / static_cast<double>(depth - shallow);
  return {groups, std::max(little - static_cast<double>(shallow) * per_k, 0.0), per_k};
}

}  // namespace

std::optional<Plan> plan_of(const KernelSpec& spec, const Tunables& tunables, std::int64_t parts,
                            const Problem& problem, const DeviceInfo& device) {
  Plan plan = carry_out({&spec, tunables, parts, {}}, problem, device);
  return plan.steps.at(plan.multiply).tunables == tunables ? std::optional(std::move(plan)) : std::nullopt;
}

std::vector<Timing> calibrate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind,
                              const DeviceInfo& device, Stopwatch& stopwatch, double patience,
                              const std::function<bool(const std::vector<Timing>&)>& promising) {
  const Multiples tile = spec.tile(tunables);
  const auto seconds = [&](std::int64_t groups, std::int64_t k) {
    const Tiled size = problem_of(tile, kind, groups);
    const Problem problem = make_problem(kind, size.m, size.n, k);
    const std::optional<Plan> plan = plan_of(spec, tunables, 1, problem, device);
    if (!plan) {
      throw Error(Status::unsupported, "the kernel does not take such operands");
    }
    return stopwatch.seconds(*plan, problem, {.samples = 3, .sample_seconds = 1e-4, .hopeless = patience});
  };
  std::vector<Timing> timings;
  double longest = 0.0;
  for (const int count : group_counts) {
    if ((timings.size() >= 2 && longest * count > patience) || (timings.size() == 2 && !promising(timings)) ||
        (count > groups_at_once && longest * count > std::min(quick, patience))) {
      break;
    }
    const std::int64_t groups = count * static_cast<std::int64_t>(device.compute_units);
    const double little = seconds(groups, shallow);
    std::int64_t depth = kind.thin != 0                         ? uncached_depth(device, groups * tile.m)
                         : little * (deep / shallow) > patience ? 4 * shallow
                                                                : deep;
    double much = seconds(groups, depth);
    while (much < clearly_more * little && much < patience && depth < deepest) {
      depth *= 4;
      much = seconds(groups, depth);
    }
    timings.push_back(timing_of(count, little, much, depth));
    longest = much / count;
  }
  return timings;
}

}  // namespace duogemm::bench
