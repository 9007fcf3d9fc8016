#include "plan/select.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "plan/analytic.h"
#include "plan/cpu_plan.h"
#include "problem/extent.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

// A slice of k shorter than this costs more to add up than it saves.
constexpr std::int64_t shortest_slice = 32;

// Where more slices take so many times as long as fewer did, yet more will not help.
constexpr double past_the_best = 1.15;

// Tensor cores, where they are permitted, err by less than multiply-adds do. They are preferred unless they
// are predicted to take so many times as long: see README.md.
constexpr double as_fast = 1.15;

// Into how many slices k might be split.
constexpr std::int64_t one_slice[] = {1};
constexpr std::int64_t counts_in_cluster[] = {1, 2, 3, 4, 6, most_in_cluster};
constexpr std::int64_t counts_of_slices[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024};

// Whether a calibration with these tunables tells how long the kernel takes where the storage fixes `fixed`.
bool speaks_of(const Calibration& calibration, const Tunables& fixed) {
  const std::vector<std::string>& untimed = calibration.spec->gemm->untimed;
  return std::all_of(fixed.begin(), fixed.end(), [&](const auto& tunable) {
    const auto found = calibration.tunables.find(tunable.first);
    return (found != calibration.tunables.end() && found->second == tunable.second) ||
           std::find(untimed.begin(), untimed.end(), tunable.first) != untimed.end();
  });
}

bool is_shape(const TunedShape& shape, const Problem& problem) {
  return shape.m == problem.m && shape.n == problem.n && shape.k == problem.k &&
         shape.batch == problem.batch && shape.a_transposed == (problem.a_op == Transpose::yes) &&
         shape.b_transposed == (problem.b_op == Transpose::yes);
}

// Bytes that packing an operand copies: whole tiles.
double packed_bytes(std::int64_t rows, std::int64_t k, std::int64_t stride, std::int64_t batch) {
  static const std::int64_t tile = resolve(find_kernel("pack"), {}).at("TILE");
  return sizeof(float) * static_cast<double>(round_up(rows, tile)) * static_cast<double>(round_up(k, tile)) *
         (stride == 0 ? 1.0 : static_cast<double>(batch));
}

}  // namespace

// Looks at all there is for one problem.
class Planner::Search {
 public:
  Search(const Planner& planner, const Problem& problem)
      : planner_(planner),
        problem_(problem),
        k_(static_cast<double>(problem.k)),
        unsplit_(splits(one_slice, true)),
        clusters_(splits(counts_in_cluster, true)),
        steps_(splits(counts_of_slices, false)) {
    ways_.reserve(256);
  }

  // The fastest; null where there is none.
  Schedule fastest() {
    Schedule best;
    const auto visit = [&](const Candidate& candidate, const Schedule& schedule) {
      if (*schedule.seconds < least_ && suits(candidate)) {
        best = schedule;
        least_ = *schedule.seconds;
      }
    };
    visit_in_fp32(visit);
    const Schedule in_fp32 = std::exchange(best, {});
    least_ *= as_fast;
    visit_in_pieces(visit);
    return best.kernel != nullptr ? best : in_fp32;
  }

  std::vector<Schedule> all() {
    std::vector<Schedule> found;
    const auto visit = [&](const Candidate& candidate, const Schedule& schedule) {
      if (suits(candidate)) {
        found.push_back(schedule);
      }
    };
    visit_in_fp32(visit);
    visit_in_pieces(visit);
    return found;
  }

 private:
  // One way of giving a problem's operands to a kernel.
  struct Operands {
    bool pack_a;
    bool pack_b;
    bool splits;  // into pieces, for the kernels that take such
    Problem problem;
    double seconds;  // that this takes
    Traffic traffic;

    bool packs() const { return pack_a || pack_b; }
  };

  // Numbers of slices that are tried, and how the slices are added up.
  struct Splits {
    std::span<const std::int64_t> counts;
    bool clustered;
    double shortest;  // slice

    Split with(std::int64_t count) const { return {count, clustered && count > 1}; }
  };

  // A candidate for operands as they are given to it, and how k may be split.
  struct Way {
    const Candidate* candidate;
    const Splits* splits;
    double groups;  // work-groups of one slice
    double least;   // seconds that it takes however k is split
  };

  Splits splits(std::span<const std::int64_t> counts, bool clustered) const {
    return {counts, clustered,
            std::max(k_ / static_cast<double>(counts.back()), std::min<double>(k_, shortest_slice))};
  }

  template <typename Visit>
  void visit_in_pieces(const Visit& visit) {
    if (problem_.precision != Precision::fp32 && facts().bandwidth > 0.0 && !problem_.no_workspace) {
      visit_ways({false, false, true, problem_, splitting_seconds(), Traffic(problem_, facts())}, visit);
    }
  }

  template <typename Visit>
  void visit_in_fp32(const Visit& visit) {
    visit_ways({false, false, false, problem_, 0.0, Traffic(problem_, facts())}, visit);
    if (facts().bandwidth <= 0.0 || problem_.no_workspace) {
      return;
    }
    for (const auto& [pack_a, pack_b] : {std::pair(true, true), {true, false}, {false, true}}) {
      // What is read in vectors along m and n anyway gains nothing.
      if ((!pack_a || a_gains()) && (!pack_b || b_gains())) {
        visit_packed(pack_a, pack_b, visit);
      }
    }
  }

  bool a_gains() const {
    return problem_.a_op == Transpose::yes || problem_.m % 4 != 0 || problem_.lda % 4 != 0 ||
           problem_.a_stride % 4 != 0 || !problem_.a_aligned;
  }
  bool b_gains() const {
    return problem_.b_op == Transpose::no || problem_.n % 4 != 0 || problem_.ldb % 4 != 0 ||
           problem_.b_stride % 4 != 0 || !problem_.b_aligned;
  }

  // Pieces take 6 bytes or 4 for each 4, and another step computes what they cannot hold.
  double splitting_seconds() const {
    const Problem& p = problem_;
    const double bytes =
        packed_bytes(p.m, p.k, p.a_stride, p.batch) + packed_bytes(p.n, p.k, p.b_stride, p.batch);
    const double moved = p.precision == Precision::bf16x6 ? 1.25 : 1.0;  // of what packing moves
    return packing_seconds(moved * bytes, facts()) + facts().step;
  }

  template <typename Visit>
  void visit_packed(bool pack_a, bool pack_b, const Visit& visit) {
    const Problem& p = problem_;
    const double copied = (pack_a ? packed_bytes(p.m, p.k, p.a_stride, p.batch) : 0.0) +
                          (pack_b ? packed_bytes(p.n, p.k, p.b_stride, p.batch) : 0.0);
    const double seconds = packing_seconds(copied, facts());
    // No kernel multiplies faster than that.
    const double possible =
        seconds +
        std::max(facts().launch, static_cast<double>(p.m) * static_cast<double>(p.n) *
                                     static_cast<double>(p.batch) * k_ * planner_.least_per_product_);
    const auto packs = [&](const Kernel& kernel) { return may_pack(*kernel.spec, p); };
    if (possible < least_ && is_countable(copied / sizeof(float)) &&
        std::any_of(planner_.kernels_.begin(), planner_.kernels_.end(), packs)) {
      const Problem inner = packed(p, pack_a, pack_b);
      visit_ways({pack_a, pack_b, false, inner, seconds, Traffic(inner, facts())}, visit);
    }
  }

  // The most promising one comes first: most others then cannot be faster, and are not predicted.
  template <typename Visit>
  void visit_ways(const Operands& operands, const Visit& visit) {
    ways_.clear();
    for (const Kernel& kernel : planner_.kernels_) {
      if (kernel.spec->gemm->splits_operands == operands.splits &&
          (!operands.packs() || may_pack(*kernel.spec, problem_))) {
        add_ways(kernel, operands);
      }
    }
    const auto first = std::min_element(ways_.begin(), ways_.end(),
                                        [](const Way& a, const Way& b) { return a.least < b.least; });
    if (first == ways_.end()) {
      return;
    }
    visit_way(*first, operands, visit);
    for (auto way = ways_.begin(); way != ways_.end(); ++way) {
      if (way != first && way->least < least_) {
        visit_way(*way, operands, visit);
      }
    }
  }

  // Where C is does not matter: a kernel that splits k has the same storage when it writes partial sums.
  void add_ways(const Kernel& kernel, const Operands& operands) {
    const int storage = kernel.spec->gemm->storage(operands.problem);
    if (storage < 0) {
      return;
    }
    const bool may = may_split(*kernel.spec, problem_);
    const bool by_clusters = may && planner_.device_.clusters && kernel.spec->gemm->adds_in_clusters;
    const bool by_step =
        may && facts().bandwidth > 0.0 && !problem_.no_workspace && partial_sums_are_countable();
    for (const Candidate& candidate : kernel.candidates[static_cast<std::size_t>(storage)]) {
      const double of_member = tiles(candidate);
      if (of_member > static_cast<double>(planner_.device_.max_groups[0]) ||
          (problem_.level == Reproducibility::everywhere && candidate.kernel->reorders)) {
        continue;
      }
      const double groups = of_member * static_cast<double>(problem_.batch);
      add_way(candidate, by_clusters ? clusters_ : unsplit_, groups, operands);
      if (by_step) {
        add_way(candidate, steps_, groups, operands);
      }
    }
  }

  void add_way(const Candidate& candidate, const Splits& splits, double groups, const Operands& operands) {
    const double least = operands.seconds +
                         with_traffic(least_multiplying(candidate, groups, splits.shortest), operands.traffic,
                                      candidate, facts(), splits.with(splits.counts.front()));
    if (least < least_) {
      ways_.push_back({&candidate, &splits, groups, least});
    }
  }

  // Those of the fewest slices: more of them are not tried where there are so many work-groups.
  bool partial_sums_are_countable() const {
    const Problem& p = problem_;
    return is_countable(2.0 * static_cast<double>(round_up(p.m, 4)) * static_cast<double>(p.n) *
                        static_cast<double>(p.batch));
  }

  template <typename Visit>
  void visit_way(const Way& way, const Operands& operands, const Visit& visit) {
    const Candidate& candidate = *way.candidate;
    const double most_slices = most(candidate, way.groups);
    double fewer_slices = std::numeric_limits<double>::infinity();
    for (const std::int64_t count : way.splits->counts) {
      const auto slices = static_cast<double>(count);
      if (count > 1 && slices > most_slices) {
        break;
      }
      const Split split = way.splits->with(count);
      const double groups = way.groups * slices;
      const double possible = operands.seconds + with_traffic(least_in_waves(candidate, groups, slices),
                                                              operands.traffic, candidate, facts(), split);
      if (possible > past_the_best * fewer_slices) {
        break;
      }
      fewer_slices = std::min(fewer_slices, possible);
      if (possible < least_) {
        const double seconds = operands.seconds + predict_seconds(operands.traffic, candidate, facts(),
                                                                  groups, depth(candidate, count), split);
        visit(candidate,
              Schedule{candidate.kernel, count, split.clustered, operands.pack_a, operands.pack_b, seconds});
      }
    }
  }

  // Of a member of the batch. Exact: sizes are far below 2^53.
  double tiles(const Candidate& candidate) const {
    return whole_up(static_cast<double>(problem_.m) / candidate.tile_m) *
           whole_up(static_cast<double>(problem_.n) / candidate.tile_n);
  }

  // No split makes it faster than all units are, when all of them are busy to the end, or than a work-group
  // is that has a unit to itself, with as short a slice of k as there may be.
  double least_multiplying(const Candidate& candidate, double groups, double shortest) const {
    return candidate.least_fixed + std::max(groups / facts().units * k_ * candidate.least_per_group,
                                            shortest * candidate.least_per_k);
  }

  // The same of one split: waves are whole.
  double least_in_waves(const Candidate& candidate, double groups, double slices) const {
    const double waves = whole_up(groups / facts().units);
    return candidate.least_fixed +
           k_ / slices * std::max(waves * candidate.least_per_group, candidate.least_per_k);
  }

  // Slices that are long enough, of so many work-groups each and not too many in all.
  double most(const Candidate& candidate, double groups) const {
    return std::min(k_ / shortest_slice,
                    std::min<double>(candidate.most_groups, groups_at_once) * facts().units / groups);
  }

  // How much of k a work-group multiplies.
  double depth(const Candidate& candidate, std::int64_t slices) const {
    return static_cast<double>(round_up(ceil_div(problem_.k, slices), candidate.multiple_k));
  }

  bool suits(const Candidate& candidate) const {
    return candidate.kernel->spec->gemm->suits(problem_, candidate.kernel->tunables);
  }

  const CostFacts& facts() const { return planner_.facts_; }

  const Planner& planner_;
  const Problem& problem_;
  const double k_;
  const Splits unsplit_;
  const Splits clusters_;
  const Splits steps_;
  std::vector<Way> ways_;
  double least_ = std::numeric_limits<double>::infinity();  // that was found
};

Planner::Planner(const DeviceInfo& device) : Planner(device, tuning_or_analytic(device)) {}

Planner::Planner(const DeviceInfo& device, Tuning tuning)
    : device_(device), tuning_(std::move(tuning)), facts_(tuning_, device_) {
  for (const Calibration& calibration : tuning_.calibrations) {
    if (calibration.spec->gemm->for_cpus == (device_.kind == DeviceKind::cpu)) {
      add(calibration);
    }
  }
}

Planner::Kernel::Kernel(const KernelSpec& of) : spec(&of) {
  for (Tunables each = of.gemm->fixed(0); !each.empty();
       each = of.gemm->fixed(static_cast<int>(fixed.size()))) {
    fixed.push_back(std::move(each));
  }
  candidates.resize(fixed.size());
}

void Planner::add(const Calibration& calibration) {
  const KernelSpec& spec = *calibration.spec;
  if (spec.gemm->fixed(0).empty()) {
    return;  // it is chosen by the problem's shape alone
  }
  auto kernel =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const Kernel& k) { return k.spec == &spec; });
  if (kernel == kernels_.end()) {
    kernel = kernels_.insert(kernels_.end(), Kernel(spec));
  }
  for (std::size_t storage = 0; storage < kernel->fixed.size(); ++storage) {
    if (!speaks_of(calibration, kernel->fixed[storage])) {
      continue;
    }
    Tunables tunables = kernel->fixed[storage];
    tunables.insert(calibration.tunables.begin(), calibration.tunables.end());
    if (!keeps_rules(spec, tunables)) {
      continue;
    }
    const Variant& variant = variant_of(spec, tunables);
    if (!unsupported_reason(variant, device_)) {
      const Candidate& candidate = kernel->candidates[storage].emplace_back(variant, calibration);
      least_per_product_ =
          std::min(least_per_product_,
                   candidate.least_per_group / (candidate.tile_m * candidate.tile_n * facts_.units));
    }
  }
}

std::optional<Schedule> Planner::forced(const Problem& problem) const {
  const char* text = std::getenv("DUOGEMM_FORCE");
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  ScheduleRequest request = parse_schedule(text);
  const KernelSpec& spec = *request.spec;
  if (spec.gemm->splits_operands && (problem.precision == Precision::fp32 ||
                                     unsupported_reason(spec, resolve(spec, request.tunables), device_))) {
    return std::nullopt;  // not permitted, or the permission is of no use
  }
  if (!may_split(*request.spec, problem)) {  // promises are kept
    request.slices = 1;
    request.clustered = false;
  }
  request.pack_a = request.pack_a && may_pack(*request.spec, problem);
  request.pack_b = request.pack_b && may_pack(*request.spec, problem);
  Problem anyhow = problem;
  anyhow.level = Reproducibility::run_to_run;
  const Schedule schedule = schedule_for(request, anyhow, device_);
  const bool keeps_level = problem.level == Reproducibility::run_to_run || !schedule.kernel->reorders;
  return keeps_level ? std::optional(schedule) : std::nullopt;
}

std::optional<Schedule> Planner::tuned(const Problem& problem) const {
  if (problem.precision != Precision::fp32) {
    return std::nullopt;  // shapes are measured in FP32
  }
  for (const TunedShape& shape : tuning_.shapes) {
    const bool splits = shape.request.slices > 1;
    if (is_shape(shape, problem) && (!splits || may_split(*shape.request.spec, problem))) {
      try {
        Schedule schedule = schedule_for(shape.request, problem, device_);
        schedule.seconds = shape.seconds;
        return schedule;
      } catch (const Error&) {
        return std::nullopt;  // operands are stored otherwise than when it was measured
      }
    }
  }
  return std::nullopt;
}

Schedule Planner::fallback(const Problem& problem) const {
  if (device_.kind == DeviceKind::cpu) {
    return schedule_for(choose_on_cpu(problem, device_), problem, device_);
  }
  return schedule_for({&find_kernel("general")}, problem, device_);
}

Schedule Planner::select(const Problem& problem) const {
  if (!problem.no_workspace) {
    if (const auto schedule = forced(problem)) {
      return *schedule;
    }
    if (const auto schedule = tuned(problem)) {
      return *schedule;
    }
  }
  const Schedule fastest = Search(*this, problem).fastest();
  return fastest.kernel != nullptr ? fastest : fallback(problem);
}

std::vector<Schedule> Planner::rank(const Problem& problem) const {
  std::vector<Schedule> schedules = Search(*this, problem).all();
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
  return Search(Planner(device, std::move(tuning)), problem).all();
}

std::vector<const Variant*> Planner::kernels() const {
  std::set<const Variant*> all;
  for (const Kernel& kernel : kernels_) {
    for (const std::vector<Candidate>& candidates : kernel.candidates) {
      for (const Candidate& candidate : candidates) {
        all.insert(candidate.kernel);
      }
    }
  }
  const std::int64_t small = 16;
  const std::int64_t large = 2048;
  for (const int ops : {0, 1, 2, 3}) {
    for (const auto& [m, n] : {std::pair(large, large), {small, small}, {large, small}, {small, large}}) {
      Problem problem = Problem::packed(m, n, large);
      problem.a_op = ops % 2 == 1 ? Transpose::yes : Transpose::no;
      problem.b_op = ops / 2 == 1 ? Transpose::yes : Transpose::no;
      problem.lda = problem.a_rows();
      problem.ldb = problem.b_rows();
      all.insert(fallback(problem).kernel);
    }
  }
  return {all.begin(), all.end()};
}

const Planner& planner_for(const DeviceInfo& device) {
  static std::mutex& mutex = *new std::mutex;
  static auto& planners = *new std::vector<std::unique_ptr<Planner>>;
  const std::lock_guard lock(mutex);
  const auto found = std::find_if(planners.begin(), planners.end(),
                                  [&](const auto& planner) { return planner->device() == device; });
  return found != planners.end() ? **found : *planners.emplace_back(std::make_unique<Planner>(device));
}

}  // namespace duogemm
