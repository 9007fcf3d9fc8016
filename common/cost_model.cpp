#include "cost_model.h"

#include <algorithm>
#include <cmath>

#include "kernel_spec.h"
#include "rounding.h"

namespace duogemm {
namespace {

// On the curve through the measured points. Beyond them every work-group adds its share of the last: a line
// through the last two would promise too much of small tiles, which do not fill a unit yet at that point.
// There is one launch all the same.
Timing at(const std::vector<Timing>& timings, double groups, double launch) {
  if (groups > timings.back().groups) {
    const double times = groups / timings.back().groups;
    const double once = std::min(launch, timings.back().fixed);
    return {0, once + times * (timings.back().fixed - once), times * timings.back().per_k};
  }
  if (timings.size() == 1 || groups <= timings.front().groups) {
    return timings.front();
  }
  std::size_t upper = 1;
  while (upper + 1 < timings.size() && timings[upper].groups < groups) {
    ++upper;
  }
  const Timing& from = timings[upper - 1];
  const Timing& to = timings[upper];
  const double share = (groups - from.groups) / (to.groups - from.groups);
  return {0, from.fixed + share * (to.fixed - from.fixed), from.per_k + share * (to.per_k - from.per_k)};
}

// How much of the time for `groups` fewer of them take, down to the number that was measured before: 0 when
// each adds its share, 1 when it is the same.
double flatness(const std::vector<Timing>& timings, double groups) {
  for (std::size_t i = 1; i < timings.size(); ++i) {
    if (timings[i].groups == groups) {
      const auto long_sum = [](const Timing& timing) { return timing.fixed + 1000.0 * timing.per_k; };
      const double share = timings[i - 1].groups / groups;
      return std::clamp((long_sum(timings[i - 1]) / long_sum(timings[i]) - share) / (1.0 - share), 0.0, 1.0);
    }
  }
  return 0.0;
}

// A unit that is done with all of its work-groups at once takes as many again as it has room for, and leaves
// none to others: then the time does not grow with each of them, but in steps. Between 4 and 8 steps of 2
// can be told from the measurements (3 and 4 take the same time), and beyond those of 4 (6 and 8 do).
Timing in_steps(const std::vector<Timing>& timings, double groups, double launch) {
  const double end = groups <= 4.0   ? groups
                     : groups <= 8.0 ? 2.0 * std::ceil(groups / 2.0)
                                     : 4.0 * std::ceil(groups / 4.0);
  const double weight = flatness(timings, groups <= 8.0 ? 4.0 : 8.0);
  const Timing even = at(timings, groups, launch);
  const Timing step = at(timings, end, launch);
  double per_k = even.per_k + weight * (step.per_k - even.per_k);
  // Most kernels on an H200 leave no room beside eight work-groups. A ninth begins when others are done, and
  // has a unit for itself: as long as it alone would take, or less where those are done one after the other.
  constexpr double together = 8.0;
  constexpr double one_after_the_other = 0.5;
  if (groups > together && groups <= timings.back().groups) {
    const double rounds = std::floor(groups / together);
    const double rest = groups - rounds * together;
    const double last = rest > 0.0 ? at(timings, rest, launch).per_k : 0.0;
    const double in_rounds = rounds * at(timings, together, launch).per_k + last;
    per_k += one_after_the_other * std::max(in_rounds - per_k, 0.0);
  }
  return {0, even.fixed + weight * (step.fixed - even.fixed), per_k};
}

// Reading is so much faster than reading and writing in turns, of which the bandwidth is: from memory, and
// from the last cache before it (on an H200).
constexpr double only_reading = 1.48;
constexpr double reading_cached = 2.4;

// What that cache keeps of its size when everything is read once, and again: on an H200, whose cache has two
// halves, problems of 43 MB are read at 7 TB/s, and of 52 MB at 4.
constexpr double kept_by_cache = 0.75;

// What an operand amounts to that no cache holds and that is stored along k: it is read in pieces, a tile's
// depth of one column, then of the next, which is far away. On an H200, where columns are 2 KiB apart or
// more, pieces of 8, 16 and 32 values take about as long as 11 values more would.
double in_pieces(double values, bool along_k, std::int64_t ld, double piece) {
  constexpr std::int64_t far_apart = 512;
  constexpr double more = 11.0;
  return along_k && ld >= far_apart ? values * (1.0 + more / piece) : values;
}

// What C amounts to where few neighbours are written at once: those at both ends share the 8 values that
// memory is written by with others (measured on an H200).
double in_runs(double values, const Calibration& calibration) {
  constexpr double shared = 8.0;
  const auto& run = calibration.spec->written_at_once;
  return run ? values * (1.0 + shared / run(calibration.tunables)) : values;
}

double values_of_a(const Problem& problem) {
  const double batch = problem.a_stride == 0 ? 1.0 : static_cast<double>(problem.batch);
  return batch * static_cast<double>(problem.m) * static_cast<double>(problem.k);
}

double values_of_b(const Problem& problem) {
  const double batch = problem.b_stride == 0 ? 1.0 : static_cast<double>(problem.batch);
  return batch * static_cast<double>(problem.n) * static_cast<double>(problem.k);
}

// Results of few rows or columns take as long as reading does; others hide it behind their arithmetic.
bool is_narrow(const Problem& problem) {
  constexpr std::int64_t narrow = 32;
  return std::min(problem.m, problem.n) <= narrow;
}

// What work-groups read in all: A once for each column of tiles, and B once for each row of them.
double read_by_groups(const Problem& problem, const Multiples& tile) {
  return values_of_a(problem) * static_cast<double>(ceil_div(problem.n, tile.n)) +
         values_of_b(problem) * static_cast<double>(ceil_div(problem.m, tile.m));
}

bool from_memory(const Problem& problem, const Tuning& tuning, const DeviceInfo& device) {
  return sizeof(float) * (values_of_a(problem) + values_of_b(problem)) >
         kept_by_cache * cache_bytes(tuning, device);
}

double values_of_c(const Problem& problem) {
  return static_cast<double>(problem.batch) * static_cast<double>(problem.m) * static_cast<double>(problem.n);
}

double moved_of_c(const Problem& problem) {
  return values_of_c(problem) * (problem.beta == 0.0f ? 1.0 : 2.0);
}

// How long it takes to move A, B and C between memory, or the cache, and the device. What several work-groups
// read comes from memory once, and out of the cache for the others, unless it has been measured how fast the
// kernel's work-groups read from memory. (Wide tiles share so much that it does not matter.)
double moving_seconds(const Problem& problem, const Calibration& calibration, const Tuning& tuning,
                      bool memory) {
  double inputs = values_of_a(problem) + values_of_b(problem);
  const Multiples tile = calibration.spec->tile(calibration.tunables);
  double rate = reading_cached * tuning.bandwidth;
  if (memory) {
    rate = only_reading * tuning.bandwidth;
    if (calibration.reading > 0.0) {
      rate = calibration.reading;
      inputs = read_by_groups(problem, tile);
    } else if (!calibration.spec->thin) {  // which read long pieces
      const auto piece = static_cast<double>(tile.k);
      inputs = in_pieces(values_of_a(problem), problem.a_op == Transpose::yes, problem.lda, piece) +
               in_pieces(values_of_b(problem), problem.b_op == Transpose::no, problem.ldb, piece);
      if (is_narrow(problem)) {
        const double again = read_by_groups(problem, tile) - values_of_a(problem) - values_of_b(problem);
        inputs += again * only_reading / reading_cached;
      }
    }
  }
  return sizeof(float) * (inputs / rate + in_runs(moved_of_c(problem), calibration) / tuning.bandwidth);
}

// Clusters stay within one cluster of multiprocessors (GPC), of which an H200's have 16 for the most part.
// Some of its 132 multiprocessors take part in no cluster of more than two work-groups. (As its driver says
// of kernels of which 1 to 8 fit on a multiprocessor, cuOccupancyMaxActiveClusters; other GPUs differ a
// little.)
constexpr double of_gpc = 16.0;
constexpr double in_larger_clusters = 10.0 / 11.0;

// How many work-groups in such clusters are resident when each unit has room for `each`.
double resident_groups(double each, double cluster, const DeviceInfo& device) {
  const double units = static_cast<double>(device.compute_units);
  if (cluster <= 2.0) {
    return units * each;
  }
  const double usable = std::floor(units * in_larger_clusters);
  const double gpcs = std::floor(usable / of_gpc);
  const double rest = usable - gpcs * of_gpc;
  return cluster * (gpcs * std::floor(of_gpc * each / cluster) + std::floor(rest * each / cluster));
}

// How many work-groups of the kernel a unit surely has room for: with 255 registers for each work-item, of
// 64 Ki, and 227 KiB of local memory; or as many as it asks for.
double room_for(const Calibration& calibration) {
  constexpr std::size_t registers = 65536;
  constexpr std::size_t local_bytes = 227 * 1024;
  const KernelSpec& spec = *calibration.spec;
  const Extent items = spec.geometry(1, 1, calibration.tunables).local;
  const std::size_t by_registers = registers / (256 * items[0] * items[1]);
  const std::size_t by_local = local_bytes / (spec.local_bytes(calibration.tunables) + 1024);
  const int asked = value_or(calibration.tunables, "RESIDENT", 0);
  return std::max({static_cast<double>(std::min(by_registers, by_local)), static_cast<double>(asked), 1.0});
}

// How many work-groups the busiest unit has to serve. Where clusters have taken all the room there is, the
// next ones wait until enough of it is free again.
double groups_per_unit(double groups, const Parts& parts, const Calibration& calibration,
                       const DeviceInfo& device) {
  if (!parts.clustered) {
    return std::ceil(groups / static_cast<double>(device.compute_units));
  }
  const double room = room_for(calibration);
  const double at_once = std::max(resident_groups(room, parts.count, device), parts.count);
  const double rounds = std::floor(groups / at_once);
  double each = 0.0;
  while (rounds * at_once + resident_groups(each, parts.count, device) < groups && each < room) {
    ++each;
  }
  return rounds * room + each;
}

// Two things that go on at the same time. The shorter one is not hidden altogether.
double overlapped(double one, double other, double visible) {
  return std::max(one, other) + visible * std::min(one, other);
}

// Kernels for thin results keep a cache or memory busy, which the units share. Where some of those have to
// serve more work-groups than others, about half of that shows. Where there are fewer work-groups than units,
// they wait less for each other, which is most of their time for each k. (From 18700 measurements of 148
// problems on an H200.)
Timing of_thin(const Calibration& calibration, const std::vector<Timing>& timings, double groups,
               double per_unit, double reading_rate, const Tuning& tuning, const DeviceInfo& device) {
  constexpr double waiting = 0.9;
  constexpr double least = 0.4;
  const double even = groups / static_cast<double>(device.compute_units);
  if (even >= 1.0 || reading_rate <= 0.0) {
    return at(timings, (even + per_unit) / 2.0, tuning.launch);
  }
  Timing timing = at(timings, per_unit, tuning.launch);
  const Multiples tile = calibration.spec->tile(calibration.tunables);
  const double bytes = sizeof(float) * static_cast<double>(std::max(tile.m, tile.n) * device.compute_units);
  timing.per_k = std::max(timing.per_k - waiting * (1.0 - even) * bytes / reading_rate, least * timing.per_k);
  return timing;
}

// The kernel's own time, from measurements of operands that come from where the problem's do, if there are
// any.
Timing timing_for(const Calibration& calibration, const Tuning& tuning, const DeviceInfo& device,
                  double groups, const Parts& parts, bool memory) {
  const double per_unit = groups_per_unit(groups, parts, calibration, device);
  const std::vector<Timing>& timings =
      memory && !calibration.uncached.empty() ? calibration.uncached : calibration.timings;
  const double reading_rate = (memory ? only_reading : reading_cached) * tuning.bandwidth;
  return calibration.spec->thin
             ? of_thin(calibration, timings, groups, per_unit, reading_rate, tuning, device)
             : in_steps(timings, per_unit, tuning.launch);
}

// The time with that of moving the operands.
double with_moving(double seconds, const Problem& problem, const Calibration& calibration,
                   const Tuning& tuning, const Parts& parts, bool memory) {
  if (calibration.spec->thin && !memory) {  // measured so
    return seconds;
  }
  const double moving = moving_seconds(problem, calibration, tuning, memory);
  if (calibration.spec->thin && !calibration.uncached.empty()) {  // and so, on a few sizes
    return std::max(parts.clustered ? seconds / in_larger_clusters : seconds, moving);
  }
  // Otherwise what is visible decides where the longer one is the same for all kernels. Where both are about
  // as long, waiting for memory and computing take turns. (From 1600 settings for narrow results on an H200.)
  const double visible = memory && is_narrow(problem) ? 0.4 : 0.05;
  const double used = parts.clustered && parts.count > 2.0 ? in_larger_clusters : 1.0;
  return overlapped(seconds, moving / used, visible);
}

// Beside large tiles, small ones are slower than they were measured, by a share of what they read for each
// product. (Of the best settings for 540 problems drawn at random, through both runtimes on an H200, the one
// foretold to be the fastest took 2.4 percent longer than the fastest without this, and takes 2.2 with it. Of
// 147 other problems for which it changes the choice, 63 of them through OpenCL, 1.6 percent less.)
double slower_by_reading(const Problem& problem, const Calibration& calibration) {
  constexpr std::int64_t thin = 16;
  if (calibration.spec->thin || std::min(problem.m, problem.n) <= thin) {
    return 1.0;
  }
  constexpr double share = 0.015;
  const auto reading = [](double m, double n) { return 64.0 / m + 64.0 / n; };
  const Multiples tile = calibration.spec->tile(calibration.tunables);
  return 1.0 + share * (reading(static_cast<double>(tile.m), static_cast<double>(tile.n)) - reading(64, 64));
}

double adding_seconds(const Problem& problem, const Calibration& calibration, const Tuning& tuning,
                      const DeviceInfo& device, const Parts& parts) {
  const double of_c = sizeof(float) * values_of_c(problem);
  if (parts.clustered) {
    // Barriers; of every part, what is others' to add up; and writing value by value. (From 669 settings of
    // pipelined, and 626 of thin kernels too, on an H200.)
    const double barriers = calibration.spec->thin ? 0.9e-6 : 0.7e-6;
    const double writing = value_or(calibration.tunables, "VC", 4) == 1 ? 1.0 : 0.0;
    return barriers + (parts.count - 1.0 + writing) * of_c / (2.0 * tuning.bandwidth);
  }
  // Every part is written and read again, out of the cache for the most part. What a thin result makes to add
  // up fills no multiprocessor.
  constexpr double less_for_thin = 0.5e-6;
  return step_seconds(tuning, device) - (calibration.spec->thin ? less_for_thin : 0.0) +
         (2.0 * parts.count * of_c + sizeof(float) * moved_of_c(problem)) / (2.0 * tuning.bandwidth);
}

}  // namespace

// A device that has nothing to do but this step fills and drains once more: 1 us on an H200, where
// tuning.launch, of kernels without work, is 2 (from 374 settings in parts through OpenCL, beside 562 in
// one). A step that is started early saves some of that; but the host has to launch it all the same.
double step_seconds(const Tuning& tuning, const DeviceInfo& device) {
  return tuning.launch + (device.steps_overlap ? 0.5e-6 : 1e-6);
}

double cache_bytes(const Tuning& tuning, const DeviceInfo& device) {
  return tuning.cache > 0.0 ? tuning.cache : static_cast<double>(device.cache_bytes);
}

double predict_seconds(const Problem& problem, const Calibration& calibration, const Tuning& tuning,
                       const DeviceInfo& device, double groups, double depth, const Parts& parts) {
  const bool memory = from_memory(problem, tuning, device);
  const Timing timing = timing_for(calibration, tuning, device, groups, parts, memory);
  double seconds = timing.fixed + slower_by_reading(problem, calibration) * depth * timing.per_k;
  if (tuning.bandwidth <= 0.0) {
    return seconds;
  }
  // A line through two depths may promise less for a short k than a kernel without work takes.
  seconds = with_moving(std::max(seconds, tuning.launch), problem, calibration, tuning, parts, memory);
  if (parts.count <= 1.0) {
    return seconds;
  }
  // Work-groups that begin and end together take a percent longer.
  constexpr double together = 1.01;
  return (parts.clustered ? together : 1.0) * seconds +
         adding_seconds(problem, calibration, tuning, device, parts);
}

}  // namespace duogemm
