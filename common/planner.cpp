#include "planner.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "cost_model.h"
#include "cpu_plan.h"
#include "rounding.h"

namespace duogemm {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

// A part of K shorter than this costs more to add up than it saves.
constexpr std::int64_t shortest_part = 32;

// Into how many parts K might be split.
constexpr std::int64_t one_part[] = {1};
constexpr std::int64_t counts_in_cluster[] = {1, 2, 3, 4, 5, 6, 7, most_in_cluster};
constexpr std::int64_t part_counts[] = {2,  3,  4,  5,  6,  7,  8,  9,  10, 11,  12,  14,  16,  18,
                                        20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 192, 256, 512, 1024};

bool may_repack(const KernelSpec& spec, const Problem& problem) {
  return spec.repacks && problem.batch_by == BatchBy::strides;
}

// Whether the time of a kernel with the tunables `measured` is that for a problem which dictates `dictated`.
bool alike(const KernelSpec& spec, const Tunables& measured, const Tunables& dictated) {
  const Tunables decisive = spec.timed_as(dictated, measured);
  return std::all_of(decisive.begin(), decisive.end(), [&](const auto& tunable) {
    const auto found = measured.find(tunable.first);
    return found != measured.end() && found->second == tunable.second;
  });
}

Tunables without(Tunables tunables, const Tunables& names) {
  std::erase_if(tunables, [&](const auto& tunable) { return names.contains(tunable.first); });
  return tunables;
}

double groups_of(const KernelSpec& spec, const Tunables& tunables, const Problem& problem) {
  const Extent groups = spec.geometry(problem.m, problem.n, tunables).groups;
  return static_cast<double>(groups[0]) * static_cast<double>(groups[1]) * static_cast<double>(problem.batch);
}

// What copying the operands first costs: each is read and written once, in squares that take as long when
// they are not full, and in half the time where both stay in the cache. On an H200, whose cache has two
// halves for a half of the multiprocessors each, that is so up to half of its size, and no more from two
// thirds on: there a copy is 1.25 times as fast as the changes in place that the bandwidth was measured with.
double repacking_seconds(const CopiedOperands& copied, const Problem& problem, const Tuning& tuning,
                         const DeviceInfo& device) {
  static const int square = settle(find_kernel("repack"), {}).at("TILE");
  const auto filled = [](std::int64_t size) { return static_cast<double>(round_up(size, square)); };
  const double batch = static_cast<double>(problem.batch);
  const double a = filled(problem.m) * (problem.a_stride == 0 ? 1.0 : batch);
  const double b = filled(problem.n) * (problem.b_stride == 0 ? 1.0 : batch);
  const double columns = (copied.a ? a : 0.0) + (copied.b ? b : 0.0);
  const double bytes = 2.0 * sizeof(float) * columns * filled(problem.k);
  const double of_cache = bytes / std::max(cache_bytes(tuning, device), 1.0);
  const double missing = std::clamp((of_cache - 1.0 / 2.0) / (2.0 / 3.0 - 1.0 / 2.0), 0.0, 1.0);
  constexpr double cached = 0.5;
  constexpr double uncached = 0.8;
  return step_seconds(tuning, device) + bytes / tuning.bandwidth * (cached + missing * (uncached - cached));
}

// The host puts the kernels of one call on the queue while the device works on those of another, and the one
// that takes longer counts. Where that is the host, it still is better to be fast.
double beside_host(double device, double host) {
  constexpr double visible = 0.05;
  return std::max(device, host + visible * (device - host));
}

// One way of giving a problem's operands to a kernel, and what the kernel is dictated then.
struct Storage {
  bool repacked;  // they are copied first
  bool turning;   // but for those that lie along k
  Problem problem;
  double seconds;                 // that this takes
  std::optional<Tunables> whole;  // also when k is in parts that clusters add up, but for CLUSTER
  std::optional<Tunables> split;  // when k is in parts that go to a workspace
};

std::vector<Storage> storages_for(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
                                  const Tuning& tuning) {
  std::vector<Storage> storages;
  const auto add = [&](bool copies, bool turning, const CopiedOperands& copied, double seconds) {
    const Problem operands = repacked(problem, copied);
    storages.push_back(
        {copies, turning, operands, seconds, spec.dictated(operands),
         may_split(spec, problem) ? spec.dictated(gathered(spec, operands, 2)) : std::nullopt});
  };
  add(false, false, {}, 0.0);
  if (may_repack(spec, problem) && tuning.bandwidth > 0.0) {
    const CopiedOperands all = copied_by_repacking(spec, problem, false);
    const CopiedOperands straight = copied_by_repacking(spec, problem, true);
    add(true, false, all, repacking_seconds(all, problem, tuning, device));
    if (straight != all && straight != CopiedOperands{}) {
      add(true, true, straight, repacking_seconds(straight, problem, tuning, device));
    }
  }
  return storages;
}

// The first for which the calibration has been measured; null when there is none.
const Storage* measured_for(const Calibration& calibration, const std::vector<Storage>& storages,
                            std::optional<Tunables> Storage::*dictated) {
  const auto found = std::find_if(storages.begin(), storages.end(), [&](const Storage& storage) {
    const std::optional<Tunables>& wanted = storage.*dictated;
    return wanted && alike(*calibration.spec, calibration.tunables, *wanted);
  });
  return found == storages.end() ? nullptr : &*found;
}

// All tunables. What the problem dictates comes first: a thin result may have been measured with its other
// side thin.
Tunables dictated_first(Tunables dictated, Tunables others) {
  dictated.merge(others);
  return dictated;
}

// What calibrations offer for a problem: choices, but for what only the one that is taken needs.
class Offers {
 public:
  struct Offer {
    const KernelSpec* spec;
    const Tunables* measured;
    const Tunables* dictated;
    std::int64_t parts;
    bool repacked;
    bool turning;
    bool clustered;
    double seconds;

    Choice choice() const {
      return {spec, without(*measured, *dictated), parts, repacked, turning, clustered, seconds};
    }
  };

  Offers(const Problem& problem, const DeviceInfo& device, const Tuning& tuning)
      : problem_(problem), device_(device), tuning_(tuning) {}

  void add(const Calibration& calibration) {
    const KernelSpec& spec = *calibration.spec;
    const bool forbidden =
        problem_.level == Reproducibility::everywhere && spec.reorders(calibration.tunables);
    if (forbidden || !spec.suits(problem_, calibration.tunables)) {
      return;
    }
    const auto [of_kernel, is_new] = storages_.try_emplace(&spec);
    if (is_new) {
      of_kernel->second = storages_for(spec, problem_, device_, tuning_);
    }
    const bool in_clusters = device_.clusters && may_split(spec, problem_);
    add(calibration, of_kernel->second, &Storage::whole,
        in_clusters ? std::span<const std::int64_t>(counts_in_cluster) : one_part);
    add(calibration, of_kernel->second, &Storage::split, part_counts);
  }

  // The fastest first; of equals, the one that was added first.
  void sort() {
    std::stable_sort(offers_.begin(), offers_.end(),
                     [](const Offer& a, const Offer& b) { return a.seconds < b.seconds; });
  }

  const std::vector<Offer>& all() const { return offers_; }

  std::vector<Choice> choices() const {
    std::vector<Choice> choices;
    for (const Offer& offer : offers_) {
      choices.push_back(offer.choice());
    }
    return choices;
  }

 private:
  void add(const Calibration& calibration, const std::vector<Storage>& storages,
           std::optional<Tunables> Storage::*dictated, std::span<const std::int64_t> counts) {
    const Storage* storage = measured_for(calibration, storages, dictated);
    if (storage == nullptr) {
      return;
    }
    const KernelSpec& spec = *calibration.spec;
    // Others multiply what is missing of a last tile as zeros.
    const bool stops_at_k = spec.thin || spec.stops_at_k;
    const double most_groups =
        static_cast<double>(std::min(calibration.timings.back().groups, groups_at_once)) *
        static_cast<double>(device_.compute_units);
    const Tunables& wanted = *(storage->*dictated);
    const double groups = groups_of(spec, dictated_first(wanted, calibration.tunables), problem_);
    for (const std::int64_t parts : counts) {
      const double all_groups = groups * static_cast<double>(parts);
      if (parts > 1 && (problem_.k / parts < shortest_part || all_groups > most_groups)) {
        break;
      }
      const bool clustered = parts > 1 && dictated == &Storage::whole;
      const std::int64_t depth = stops_at_k ? ceil_div(problem_.k, parts)
                                            : part_length(spec, calibration.tunables, problem_.k, parts);
      const double seconds =
          storage->seconds + predict_seconds(storage->problem, calibration, tuning_, device_, all_groups,
                                             static_cast<double>(depth),
                                             {static_cast<double>(parts), clustered});
      const int steps = 1 + (storage->repacked ? 1 : 0) + (parts > 1 && !clustered ? 1 : 0);
      offers_.push_back({&spec, &calibration.tunables, &wanted, parts, storage->repacked, storage->turning,
                         clustered, beside_host(seconds, steps * tuning_.enqueue)});
    }
  }

  const Problem& problem_;
  const DeviceInfo& device_;
  const Tuning& tuning_;
  std::map<const KernelSpec*, std::vector<Storage>> storages_;
  std::vector<Offer> offers_;
};

// Whatever the measurements allow, in order.
Offers offers_for(const Problem& problem, const DeviceInfo& device, const Tuning& tuning) {
  Offers offers(problem, device, tuning);
  for (const Calibration& calibration : tuning.calibrations) {
    if (calibration.spec->for_cpus == (device.kind == DeviceKind::cpu)) {
      offers.add(calibration);
    }
  }
  offers.sort();
  return offers;
}

// Whether a choice that does not split k adds up in another order than ascending k.
bool reorders(const Choice& choice, const Problem& problem) {
  const CopiedOperands copied =
      choice.repacked ? copied_by_repacking(*choice.spec, problem, choice.turning) : CopiedOperands{};
  const auto dictated = choice.spec->dictated(repacked(problem, copied));
  const Tunables all = dictated_first(dictated.value_or(Tunables{}), choice.tunables);
  return choice.spec->reorders(settle(*choice.spec, all));
}

bool is_shape(const TunedShape& shape, const Problem& problem) {
  return shape.m == problem.m && shape.n == problem.n && shape.k == problem.k &&
         shape.batch == problem.batch && shape.a_transposed == (problem.a_op == Transpose::yes) &&
         shape.b_transposed == (problem.b_op == Transpose::yes) &&
         (shape.parts == 1 || may_split(*shape.spec, problem));
}

// Above this many elements of C along each side, large tiles fill a device well enough to be worth their
// fewer loads.
constexpr std::int64_t large_side = 1024;

// What there is without any measurement.
Choice unmeasured(const Problem& problem, const DeviceInfo& device) {
  if (device.kind == DeviceKind::cpu) {
    return choose_on_cpu(problem, device);
  }
  Tunables tile;
  if (std::min(problem.m, problem.n) >= large_side) {
    tile = {{"TSM", 128}, {"TSN", 128}, {"WPTM", 8}, {"WPTN", 8}};
  }
  return {&find_kernel("general"), tile};
}

}  // namespace

bool may_split(const KernelSpec& spec, const Problem& problem) {
  return spec.splits_k && problem.level == Reproducibility::run_to_run &&
         problem.batch_by == BatchBy::strides;
}

bool can_run(const Choice& choice, const Problem& problem, const DeviceInfo& device) {
  try {
    carry_out(choice, problem, device);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string to_text(const Choice& choice) {
  std::string text = choice.spec->name;
  if (!choice.tunables.empty()) {
    text.append(" ").append(to_text(choice.tunables));
  }
  if (choice.repacked) {
    text.append(choice.turning ? " after repacking what it does not turn" : " after repacking");
  }
  if (choice.parts > 1) {
    text.append(" in ").append(std::to_string(choice.parts)).append(" parts of k");
    text.append(choice.clustered ? " that clusters add up" : "");
  }
  return text;
}

Choice parse_choice(const std::string& text) {
  const std::size_t colon = text.find(':');
  Choice choice;
  choice.spec = &find_kernel(text.substr(0, colon));
  if (!choice.spec->dictated) {
    reject(choice.spec->name + " is not a production kernel");
  }
  const std::map<std::string, bool*> switches = {
      {"repacked", &choice.repacked}, {"turning", &choice.turning}, {"clustered", &choice.clustered}};
  std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string item = rest.substr(0, rest.find(','));
    rest = item.size() == rest.size() ? "" : rest.substr(item.size() + 1);
    const std::size_t equals = item.find('=');
    int value = 0;
    const char* end = item.data() + item.size();
    if (equals == std::string::npos ||
        std::from_chars(item.data() + equals + 1, end, value) != std::from_chars_result{end, std::errc()}) {
      reject(item + ": a choice is written kernel:TUNABLE=number,...,parts=number");
    }
    const std::string name = item.substr(0, equals);
    if (name == "parts") {
      choice.parts = value;
    } else if (const auto found = switches.find(name); found != switches.end()) {
      if (value != 0 && value != 1) {
        reject(item + ": 0 or 1");
      }
      *found->second = value == 1;
    } else {
      choice.tunables[name] = value;
    }
  }
  if (choice.turning && !choice.repacked) {
    reject("turning=1: only with repacked=1, of which it excepts operands");
  }
  if (choice.parts < 1 || (choice.parts > 1 && !choice.spec->splits_k)) {
    reject("parts=" + std::to_string(choice.parts) + ": at least 1, and 1 for kernels that do not split k");
  }
  return choice;
}

std::vector<Choice> choices_with(const Calibration& calibration, const Problem& problem,
                                 const DeviceInfo& device, const Tuning& tuning) {
  Offers offers(problem, device, tuning);
  offers.add(calibration);
  return offers.choices();
}

std::vector<Choice> rank(const Problem& problem, const DeviceInfo& device, const Tuning& tuning) {
  std::vector<Choice> choices = offers_for(problem, device, tuning).choices();
  choices.push_back(unmeasured(problem, device));
  return choices;
}

Choice choose(const Problem& problem, const DeviceInfo& device, const Tuning& tuning) {
  if (const char* forced = std::getenv("DUOGEMM_FORCE"); forced != nullptr && *forced != '\0') {
    Choice choice = parse_choice(forced);
    choice.parts = may_split(*choice.spec, problem) ? choice.parts : 1;  // promises are kept
    choice.repacked = choice.repacked && may_repack(*choice.spec, problem);
    choice.turning = choice.turning && choice.repacked;
    if (problem.level == Reproducibility::run_to_run || !reorders(choice, problem)) {
      return choice;
    }
  }
  for (const TunedShape& shape : tuning.shapes) {
    const Choice choice{shape.spec,    shape.tunables,  shape.parts,  shape.repacked,
                        shape.turning, shape.clustered, shape.seconds};
    if (is_shape(shape, problem) && can_run(choice, problem, device)) {
      return choice;
    }
  }
  for (const Offers offers = offers_for(problem, device, tuning); const Offers::Offer& offer : offers.all()) {
    if (Choice choice = offer.choice(); can_run(choice, problem, device)) {
      return choice;
    }
  }
  return unmeasured(problem, device);
}

}  // namespace duogemm
