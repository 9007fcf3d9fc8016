#include "plan/select.h"

#include <algorithm>
#include <span>
#include <utility>

#include "families/plan.h"
#include "problem/element_type.h"
#include "problem/problem.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

// A split of k shorter than this costs more to add up than it saves.
constexpr std::int64_t shortest_split = 32;

// Once more splits take that many times as long as fewer did, yet more will not help.
constexpr double past_the_best = 1.15;

// Into how many splits k might be cut.
constexpr std::int64_t one_split[] = {1};
constexpr std::int64_t counts_in_cluster[] = {1, 2, 3, 4, 6, most_in_cluster};
constexpr std::int64_t counts_by_step[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024};

// Bytes that packing an operand copies: whole tiles.
double packed_bytes(std::int64_t rows, std::int64_t k, std::int64_t stride, std::int64_t batch) {
  return sizeof(float) * static_cast<double>(round_up(rows, pack_tile())) *
         static_cast<double>(round_up(k, pack_tile())) * (stride == 0 ? 1.0 : static_cast<double>(batch));
}

// An operand that is read in vectors along m and n anyway gains nothing from packing.
bool a_gains_from_packing(const Problem& p) {
  return p.a_op == Transpose::yes || p.m % 4 != 0 || p.lda % 4 != 0 || p.a_stride % 4 != 0 || !p.a_aligned;
}
bool b_gains_from_packing(const Problem& p) {
  return p.b_op == Transpose::no || p.n % 4 != 0 || p.ldb % 4 != 0 || p.b_stride % 4 != 0 || !p.b_aligned;
}

}  // namespace

// Looks at all there is for one problem: each way of giving the operands to a kernel, for each every
// candidate, for each every split of k. What cannot be the fastest any more is not predicted.
class Planner::Search {
 public:
  // With `all`, every prediction goes there, and none is left out.
  Search(const Planner& planner, const Problem& problem, std::vector<Schedule>* all = nullptr)
      : planner_(planner),
        facts_(planner.facts_),
        problem_(problem),
        several_steps_(planner.packs_and_reduces_ && facts_.bandwidth > 0.0 && !problem.no_workspace),
        all_(all) {
    ways_.reserve(256);
  }

  // Without a kernel where there is nothing. For a grouped product, without one where tensor cores are not
  // permitted or take longer. A problem that owes terms has a kernel for them.
  Schedule fastest() {
    if (problem_.owes_terms()) {
      look_at_terms();
      return best_;
    }
    if (problem_.is_grouped()) {
      least_ = grouped_seconds();
      if (problem_.precision != Precision::fp32 && several_steps_) {
        look_at_terms();
      }
      return best_;
    }
    look_at(
        {.problem = problem_, .seconds = widening_seconds(true, true), .traffic = Traffic(problem_, facts_)});
    if (!several_steps_) {
      return best_;
    }
    for (const auto& [pack_a, pack_b] : {std::pair(true, true), {true, false}, {false, true}}) {
      look_at_packed(pack_a, pack_b);
    }
    if (problem_.precision != Precision::fp32) {
      look_at_terms();
    }
    return best_;
  }

 private:
  // One way of giving a problem's operands to a kernel.
  struct Operands {
    bool pack_a = false;
    bool pack_b = false;
    Precision precision = Precision::fp32;  // in others they become split terms first
    Problem problem;
    double seconds = 0.0;  // that this takes
    Traffic traffic;

    bool packs() const { return pack_a || pack_b; }
  };

  // A candidate for operands as they are given to it, and how k may be split.
  struct Way {
    const Candidate* candidate;
    std::span<const std::int64_t> counts;
    AddedBy by;
    double groups;  // work-groups of one split
    double least;   // seconds that it takes however k is split

    Split split(std::int64_t count) const { return {count, by}; }
    double groups_of(std::int64_t count) const {
      return by == AddedBy::turns ? groups : groups * static_cast<double>(count);
    }
  };

  void look_at(const Operands& operands) {
    ways_.clear();
    const Kernel* const owed = problem_.owes_terms() ? planner_.owed_kernel(problem_) : nullptr;
    for (const Kernel& kernel : planner_.kernels_) {
      if ((owed == nullptr || owed == &kernel) && kernel.spec->family->multiplies_in(operands.precision) &&
          (!operands.packs() || may_pack(*kernel.spec, problem_))) {
        add_ways(kernel, operands);
      }
    }
    // After the most promising one, most others cannot be faster.
    const auto first = std::ranges::min_element(ways_, {}, &Way::least);
    if (first != ways_.end()) {
      std::rotate(ways_.begin(), first, first + 1);
    }
    for (const Way& way : ways_) {
      if (way.least < least_) {
        predict(way, operands);
      }
    }
  }

  void look_at_terms() {
    look_at({.precision = problem_.precision,
             .problem = problem_,
             .seconds = seconds_in_terms(),
             .traffic = Traffic(problem_, facts_)});
  }

  // A grouped product in FP32: its tiles fill the device, or the memory is what it waits for.
  double grouped_seconds() const {
    constexpr double widest = 64.0;  // tile along n, of which half is left over in each group
    const double columns =
        static_cast<double>(problem_.n) + 0.5 * widest * static_cast<double>(problem_.groups);
    const double products = static_cast<double>(problem_.m) * columns * k_;
    return facts_.launch +
           std::max(products * planner_.least_per_product_, Traffic(problem_, facts_).seconds);
  }

  void look_at_packed(bool pack_a, bool pack_b) {
    const Problem& p = problem_;
    if ((pack_a && !a_gains_from_packing(p)) || (pack_b && !b_gains_from_packing(p))) {
      return;
    }
    const double copied = (pack_a ? packed_bytes(p.m, p.k, p.a_stride, p.batch) : 0.0) +
                          (pack_b ? packed_bytes(p.n, p.k, p.b_stride, p.batch) : 0.0);
    const double seconds = widening_seconds(!pack_a, !pack_b) + packing_seconds(copied, facts_);
    // No kernel multiplies faster than that.
    const double possible = seconds + std::max(facts_.launch, 0.5 * p.flops() * planner_.least_per_product_);
    if (possible < least_ && is_countable(copied / sizeof(float))) {
      const Problem inner = packed(p, pack_a, pack_b);
      look_at({.pack_a = pack_a,
               .pack_b = pack_b,
               .problem = inner,
               .seconds = seconds,
               .traffic = Traffic(inner, facts_)});
    }
  }

  // Copying those of the two operands to FP32 that have elements of 16 bits.
  double widening_seconds(bool a, bool b) const {
    const Problem& p = problem_;
    const bool narrow_a = a && is_narrow(p.a_type), narrow_b = b && is_narrow(p.b_type);
    const double bytes = (narrow_a ? packed_bytes(p.m, p.k, p.a_stride, p.batch) : 0.0) +
                         (narrow_b ? packed_bytes(p.n, p.k, p.b_stride, p.batch) : 0.0);
    return bytes > 0.0 && facts_.bandwidth > 0.0 ? packing_seconds(bytes, facts_) : 0.0;
  }

  // Split terms take 6 bytes or 4 for each 4, or 2 for each 2, and another step computes what they cannot
  // hold. Those of an operand that was prepared are there.
  double seconds_in_terms() const {
    const Problem& p = problem_;
    const double wide = p.precision == Precision::bf16x6 ? 1.25 : 1.0;  // of what packing moves
    const auto moved = [&](bool is_prepared, ElementType type) {
      return is_prepared ? 0.0 : is_narrow(type) ? 0.5 : wide;
    };
    return packing_seconds(
               moved(p.a_prepared, p.a_type) * packed_bytes(p.m, p.k, p.a_stride, p.members_of_a()) +
                   moved(p.b_prepared, p.b_type) * packed_bytes(p.n, p.k, p.b_stride, p.batch),
               facts_) +
           facts_.step;
  }

  // It does not matter where C is: a kernel that splits k has the same storage when it writes partial sums.
  void add_ways(const Kernel& kernel, const Operands& operands) {
    const Family& family = *kernel.spec->family;
    const int storage = family.storage(operands.problem);
    if (storage < 0 || problem_.k > family.longest_k()) {
      return;
    }
    const bool may = may_split(*kernel.spec, problem_);
    const bool by_clusters = may && planner_.device_.clusters && family.adds_in_clusters();
    const bool by_step = may && several_steps_ && has_room_for_partial_sums();
    const std::span<const std::int64_t> owed(&owed_, 1);
    for (const Candidate& candidate : kernel.candidates[static_cast<std::size_t>(storage)]) {
      const double each = candidate.groups(problem_);
      if (each > static_cast<double>(planner_.device_.max_groups[0]) ||
          (problem_.owes_chains() && candidate.kernel->reorders)) {
        continue;
      }
      const double groups = each * static_cast<double>(problem_.batch);
      if (owed_ == 1) {
        const std::span<const std::int64_t> unsplit = one_split;
        add_way({&candidate, by_clusters ? counts_in_cluster : unsplit, AddedBy::cluster, groups, 0.0},
                operands);
        if (by_step) {
          add_way({&candidate, counts_by_step, AddedBy::step, groups, 0.0}, operands);
        }
        continue;
      }
      if (owed_ <= most_in_turn && (problem_.sums_in_c() || !problem_.no_workspace)) {
        add_way({&candidate, owed, AddedBy::turns, groups, 0.0}, operands);
      }
      if (by_clusters && owed_ <= most_in_cluster) {
        add_way({&candidate, owed, AddedBy::cluster, groups, 0.0}, operands);
      }
      if (by_step) {
        add_way({&candidate, owed, AddedBy::step, groups, 0.0}, operands);
      }
    }
  }

  void add_way(Way way, const Operands& operands) {
    const double shortest =
        std::max(k_ / static_cast<double>(way.counts.back()), std::min<double>(k_, shortest_split));
    const double multiplying = way.candidate->least_seconds(way.groups, k_, shortest, facts_);
    way.least = operands.seconds + with_traffic(multiplying, operands.traffic, *way.candidate, facts_,
                                                way.split(way.counts.front()));
    if (way.least < least_) {
      ways_.push_back(way);
    }
  }

  // Those of the fewest splits: more of them are not tried where there are that many work-groups. Splits that
  // are owed can be added up in turn, where their sums would take more memory than the operands.
  bool has_room_for_partial_sums() const {
    const Problem& p = problem_;
    const auto fewest = static_cast<double>(std::max<std::int64_t>(owed_, 2));
    const double sums = fewest * static_cast<double>(round_up(p.m, 4)) * static_cast<double>(p.n);
    return is_countable(sums * static_cast<double>(p.batch)) &&
           (owed_ == 1 || sums <= k_ * static_cast<double>(p.m + p.n));
  }

  void predict(const Way& way, const Operands& operands) {
    const Candidate& candidate = *way.candidate;
    // Splits are long enough, and their work-groups not too many in all.
    const double most =
        std::min(k_ / shortest_split,
                 std::min<double>(candidate.most_groups, groups_at_once) * facts_.units / way.groups);
    double fewer = std::numeric_limits<double>::infinity();
    for (const std::int64_t count : way.counts) {
      const auto splits = static_cast<double>(count);
      if (count > 1 && splits > most && owed_ == 1) {
        return;
      }
      const Split split = way.split(count);
      const double groups = way.groups_of(count);
      const double share = way.by == AddedBy::turns ? k_ : k_ / splits;
      const double possible = operands.seconds + with_traffic(candidate.least_in_waves(groups, share, facts_),
                                                              operands.traffic, candidate, facts_, split);
      if (possible > past_the_best * fewer) {
        return;
      }
      fewer = std::min(fewer, possible);
      if (possible < least_) {
        const std::int64_t longest = way.by == AddedBy::turns ? problem_.k
                                     : owed_ > 1              ? everywhere_split
                                                              : ceil_div(problem_.k, count);
        const auto depth = static_cast<double>(round_up(longest, candidate.multiple_k));
        const double seconds =
            operands.seconds + predict_seconds(operands.traffic, candidate, facts_, groups, depth, split);
        consider({.kernel = candidate.kernel,
                  .splits = count,
                  .clustered = way.by == AddedBy::cluster && count > 1,
                  .in_turn = way.by == AddedBy::turns,
                  .pack_a = operands.pack_a,
                  .pack_b = operands.pack_b,
                  .seconds = seconds},
                 operands.problem);
      }
    }
  }

  // `as_given`: the problem with the operands that the kernel is given, which may have been packed.
  void consider(Schedule schedule, const Problem& as_given) {
    if (planner_.device_.kind == DeviceKind::cpu && !fit(schedule)) {
      return;
    }
    const Variant& kernel = *schedule.kernel;
    if (*schedule.seconds < least_ && kernel.spec->family->worthwhile(as_given, kernel.tunables)) {
      if (all_ != nullptr) {
        all_->push_back(schedule);
      } else {
        best_ = schedule;
        least_ = *schedule.seconds;
      }
    }
  }

  // A CPU's kernel with blocks that the problem fills; false where the device has no such program.
  bool fit(Schedule& schedule) const {
    const Variant& measured = *schedule.kernel;
    schedule.kernel = &measured.spec->family->variant(*measured.spec, measured.tunables,
                                                      schedule.in_turn ? turn_of(problem_) : problem_);
    return !unsupported_reason(*schedule.kernel, planner_.device_);
  }

  const Planner& planner_;
  const CostFacts& facts_;
  const Problem& problem_;
  const bool several_steps_;
  const double k_ = static_cast<double>(problem_.k);
  const std::int64_t owed_ = problem_.owed_splits();
  std::vector<Schedule>* const all_;
  std::vector<Way> ways_;
  Schedule best_;
  double least_ = std::numeric_limits<double>::infinity();  // seconds that were predicted
};

const Planner::Kernel* Planner::owed_kernel(const Problem& problem) const {
  const auto multiplies = [&](const Kernel& kernel) {
    const Family& family = *kernel.spec->family;
    const int storage = family.storage(problem);
    return family.multiplies_in(problem.precision) && storage >= 0 &&
           !kernel.candidates[static_cast<std::size_t>(storage)].empty();
  };
  const auto found = std::ranges::find_if(kernels_, multiplies);
  return found == kernels_.end() || !packs_and_reduces_ || facts_.bandwidth == 0.0 ? nullptr : &*found;
}

Problem Planner::as_owed(const Problem& problem) const {
  Problem owed = problem;
  if (owed.owes_terms() && owed_kernel(owed) == nullptr) {
    owed.precision = Precision::fp32;
  }
  return owed;
}

Schedule Planner::select(const Problem& problem) const {
  if (problem.owes_terms() && problem.no_workspace) {
    throw Error(Status::out_of_memory,
                "there is no memory for split terms, which the level batch_invariant has multiplied");
  }
  if (!problem.no_workspace) {
    if (const auto schedule = forced(problem)) {
      return *schedule;
    }
    if (const auto schedule = tuned(problem)) {
      return *schedule;
    }
  }
  const Schedule fastest = Search(*this, problem).fastest();
  if (fastest.kernel == nullptr && problem.owes_terms()) {
    throw Error(Status::unsupported, "the level batch_invariant for as many tiles of C as m and n have");
  }
  return fastest.kernel != nullptr ? fastest : fallback(problem);
}

std::vector<Schedule> Planner::all_schedules(const Problem& problem) const {
  std::vector<Schedule> all;
  Search(*this, problem, &all).fastest();
  return all;
}

std::vector<Schedule> Planner::rank(const Problem& problem) const {
  std::vector<Schedule> schedules = all_schedules(problem);
  std::stable_sort(schedules.begin(), schedules.end(),
                   [](const Schedule& a, const Schedule& b) { return a.seconds < b.seconds; });
  if (schedules.empty()) {
    schedules.push_back(fallback(problem));
  }
  return schedules;
}

std::vector<Schedule> Planner::offers(const Calibration& calibration, const Problem& problem,
                                      const DeviceInfo& device, const Tuning& facts) {
  Tuning tuning = facts;
  tuning.calibrations = {calibration};
  return Planner(device, std::move(tuning)).all_schedules(problem);
}

}  // namespace duogemm
