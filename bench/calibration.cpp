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

std::int64_t uncached_depth(double cache, std::int64_t rows) {
  const auto bytes = static_cast<std::int64_t>(2 * cache);
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

Calibrator::Calibrator(Stopwatch& stopwatch, const DeviceInfo& device, double cache, double patience)
    : stopwatch_(stopwatch), device_(device), cache_(cache), patience_(patience) {}

Calibration Calibrator::calibrate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind,
                                  const Promising& promising) {
  Calibration calibration{&spec, tunables, timings(spec, tunables, kind, promising)};
  if (promising(calibration.timings)) {
    calibration.reading = reading_rate(spec, tunables, kind);
  }
  return calibration;
}

double Calibrator::seconds(const KernelSpec& spec, const Tunables& tunables, const Problem& problem) {
  const std::optional<Plan> plan = plan_of(spec, tunables, 1, problem, device_);
  if (!plan) {
    throw Error(Status::unsupported, "the kernel does not take such operands");
  }
  return stopwatch_.seconds(*plan, problem, {.samples = 3, .sample_seconds = 1e-4, .hopeless = patience_});
}

// Takes less where one execution takes longer than the patience.
std::vector<Timing> Calibrator::timings(const KernelSpec& spec, const Tunables& tunables,
                                        const OperandKind& kind, const Promising& promising) {
  const Multiples tile = spec.tile(tunables);
  const auto seconds_for = [&](std::int64_t groups, std::int64_t k) {
    const Tiled size = problem_of(tile, kind, groups);
    return seconds(spec, tunables, make_problem(kind, size.m, size.n, k));
  };
  std::vector<Timing> timings;
  double longest = 0.0;
  for (const int count : group_counts) {
    if ((timings.size() >= 2 && longest * count > patience_) ||
        (timings.size() == 2 && !promising(timings)) ||
        (count > groups_at_once && longest * count > std::min(quick, patience_))) {
      break;
    }
    const std::int64_t groups = count * static_cast<std::int64_t>(device_.compute_units);
    const double little = seconds_for(groups, shallow);
    std::int64_t depth = kind.thin != 0                          ? uncached_depth(cache_, groups * tile.m)
                         : little * (deep / shallow) > patience_ ? 4 * shallow
                                                                 : deep;
    double much = seconds_for(groups, depth);
    while (much < clearly_more * little && much < patience_ && depth < deepest) {
      depth *= 4;
      much = seconds_for(groups, depth);
    }
    timings.push_back(timing_of(count, little, much, depth));
    longest = much / count;
  }
  return timings;
}

// Of narrow tiles, whose results of few rows or columns are made at that speed; 0 for others, and for kernels
// that are measured at it anyway.
double Calibrator::reading_rate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind) {
  constexpr std::int64_t narrow = 32;
  constexpr std::int64_t bytes = std::int64_t{1} << 30;  // no cache holds a large part of it
  constexpr std::int64_t k = 4096;
  constexpr std::int64_t length = bytes / static_cast<std::int64_t>(sizeof(float)) / k;
  const Multiples tile = spec.tile(tunables);
  if (spec.thin || device_.kind != DeviceKind::gpu || std::min(tile.m, tile.n) > narrow ||
      4 * static_cast<std::size_t>(bytes) > device_.memory_bytes ||
      static_cast<std::size_t>(bytes) > device_.max_allocation_bytes) {
    return 0.0;
  }
  const bool tall = tile.m >= tile.n;
  const Problem problem = make_problem(kind, tall ? length : tile.m, tall ? tile.n : length, k);
  const double read = static_cast<double>(bytes) * static_cast<double>(tile.m + tile.n) /
                      static_cast<double>(std::max(tile.m, tile.n));
  return read / (seconds(spec, tunables, problem) - stopwatch_.launch());
}

}  // namespace duogemm::bench
