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

// Thin results are made at the speed of a cache, or of memory, as the size of the long operand decides: here
// in units of the cache's. A cache of two halves may hold everything twice.
constexpr double cached = 1.0 / 2.0;
constexpr double uncached = 8.0;

// Two sums are told apart, the shorter of which is a quarter of the longer one. Where that would be less than
// a few vectors, there are too many rows to say anything.
constexpr std::int64_t shorter = 4;
constexpr std::int64_t shortest_of_thin = 16;

// Sizes of a problem that has `groups` full tiles.
struct Tiled {
  std::int64_t m;
  std::int64_t n;
};

// As square as can be.
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

// Where both times make no sense, k is all that counts.
Timing timing_of(int groups, const Measured& little, const Measured& much) {
  if (much.seconds <= little.seconds) {
    return {groups, 0.0, much.seconds / static_cast<double>(much.depth)};
  }
  const double per_k = (much.seconds - little.seconds) / static_cast<double>(much.depth - little.depth);
  return {groups, std::max(little.seconds - static_cast<double>(little.depth) * per_k, 0.0), per_k};
}

bool holds(const DeviceInfo& device, double bytes) {
  return 4.0 * bytes <= static_cast<double>(device.memory_bytes) &&
         bytes <= static_cast<double>(device.max_allocation_bytes);
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
  if (kind.thin != 0) {
    Calibration calibration{&spec, tunables, thin_timings(spec, tunables, kind, cached * cache_, promising)};
    if (promising(calibration.timings) && holds(device_, uncached * cache_)) {
      const auto any = [](const std::vector<Timing>&) { return true; };
      calibration.uncached = thin_timings(spec, tunables, kind, uncached * cache_, any);
    }
    return calibration;
  }
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
    const Tiled size = problem_of(tile, groups);
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
    std::int64_t depth = little * (deep / shallow) > patience_ ? 4 * shallow : deep;
    double much = seconds_for(groups, depth);
    while (much < clearly_more * little && much < patience_ && depth < deepest) {
      depth *= 4;
      much = seconds_for(groups, depth);
    }
    timings.push_back(timing_of(count, {shallow, little}, {depth, much}));
    longest = much / count;
  }
  return timings;
}

// With a long operand of `bytes`, and of a quarter of them, or less where the cache holds it anyway: then
// short sums say best what does not depend on k.
std::vector<Timing> Calibrator::thin_timings(const KernelSpec& spec, const Tunables& tunables,
                                             const OperandKind& kind, double bytes,
                                             const Promising& promising) {
  const std::int64_t rows_of_all = spec.tile(tunables).m * static_cast<std::int64_t>(device_.compute_units);
  std::vector<Timing> timings;
  for (const int count : group_counts) {
    if (timings.size() == 2 && !promising(timings)) {
      break;
    }
    const std::int64_t rows = count * rows_of_all;
    const auto measured = [&](std::int64_t depth) {
      return Measured{depth, seconds(spec, tunables, make_problem(kind, rows, kind.thin, depth))};
    };
    const auto fitting = static_cast<std::int64_t>(bytes / (sizeof(float) * static_cast<double>(rows)));
    if (fitting < shortest_of_thin && !timings.empty()) {
      break;
    }
    const Measured much = measured(std::max(fitting, shortest_of_thin));
    const std::int64_t quarter = much.depth / shorter;
    const Measured little = measured(bytes < cache_ ? std::min(quarter, shallow) : quarter);
    timings.push_back(timing_of(count, little, much));
    if (much.seconds > patience_) {
      break;
    }
  }
  return timings;
}

// Of narrow tiles, whose results of few rows or columns are made at that speed; 0 for others.
double Calibrator::reading_rate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind) {
  constexpr std::int64_t narrow = 32;
  constexpr std::int64_t bytes = std::int64_t{1} << 30;  // no cache holds a large part of it
  constexpr std::int64_t k = 4096;
  constexpr std::int64_t length = bytes / static_cast<std::int64_t>(sizeof(float)) / k;
  const Multiples tile = spec.tile(tunables);
  if (device_.kind != DeviceKind::gpu || std::min(tile.m, tile.n) > narrow || !holds(device_, bytes)) {
    return 0.0;
  }
  const bool tall = tile.m >= tile.n;
  const Problem problem = make_problem(kind, tall ? length : tile.m, tall ? tile.n : length, k);
  const double read = static_cast<double>(bytes) * static_cast<double>(tile.m + tile.n) /
                      static_cast<double>(std::max(tile.m, tile.n));
  return read / (seconds(spec, tunables, problem) - stopwatch_.launch());
}

}  // namespace duogemm::bench
