#include "tune/tuner.h"

#include <algorithm>
#include <cstdio>

#include "families/kernel_parts.h"
#include "plan/cpu_plan.h"
#include "problem/precision.h"
#include "tune/tuner_limits.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t samples_as_seeds = 12;

constexpr double checkpoint_share = 1.0 / 10;

double since_epoch(Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string ops_of(const OperandKind& kind) { return kind.name().substr(0, 2); }

bool same_problem(const TunedShape& one, const TunedShape& other) {
  return one.a_transposed == other.a_transposed && one.b_transposed == other.b_transposed &&
         one.m == other.m && one.n == other.n && one.k == other.k && one.batch == other.batch;
}

// The tunables that the problem fixes and on which the kernel's time depends.
std::optional<Tunables> decisive(const KernelSpec& spec, const Problem& problem) {
  std::optional<Tunables> fixed = fixed_tunables(spec, problem);
  if (fixed) {
    erase_if(*fixed, [&](const auto& tunable) {
      return std::find(spec.gemm->untimed.begin(), spec.gemm->untimed.end(), tunable.first) !=
             spec.gemm->untimed.end();
    });
  }
  return fixed;
}

}  // namespace

Tuner::Tuner(Device& device, const TuneOptions& options, const Tuning& resumed,
             const std::vector<Tuning>& known, const std::atomic<bool>& stop)
    : device_(device),
      options_(options),
      stop_(stop),
      end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budget))),
      programs_(device, DiskCache({})),
      stopwatch_(device, programs_),
      calibrator_(stopwatch_, device.info(), CostFacts(tuning_for(device.info()), device.info()).cache,
                  options.budget * probe_share),
      random_(options.seed),
      resumed_(resumed) {
  facts_.target = {device.info().backend, kind_name(device.info().kind), device.info().name, 0};
  facts_.bandwidth = stopwatch_.bandwidth();
  facts_.launch = stopwatch_.launch();
  const Tuning& shipped = tuning_for(device.info());
  facts_.reading = shipped.reading;
  facts_.cached = shipped.cached;
  facts_.cache = shipped.cache;
  facts_.clusters = shipped.clusters;
  facts_.registers = shipped.registers;
  std::vector<Tuning> all_known = {resumed};
  all_known.insert(all_known.end(), known.begin(), known.end());
  for (const OperandKind& kind : operand_kinds(options.precision)) {
    const bool asked = options.ops.empty() ||
                       std::find(options.ops.begin(), options.ops.end(), ops_of(kind)) != options.ops.end();
    if (asked && field_of(edge_problems(kind).front()) == nullptr) {
      add_field(kind, all_known);
    }
  }
  if (fields_.empty()) {
    throw Error(Status::unsupported,
                device.info().name + " has no kernels for " + to_text(options.precision));
  }
  add_shapes();
}

void Tuner::add_field(const OperandKind& kind, const std::vector<Tuning>& known) {
  Field& field = fields_.emplace_back();
  field.kind = kind;
  field.probes = make_probes(kind);
  std::erase_if(field.probes, [&](const Probe& probe) { return !fits(probe.problem, device_.info()); });
  field.best.resize(field.probes.size());
  const bool on_cpu = device_.info().kind == DeviceKind::cpu;
  for (const KernelSpec& spec : registry()) {
    const auto fixed = spec.gemm && spec.gemm->for_cpus == on_cpu
                           ? fixed_tunables(spec, edge_problems(kind).front())
                           : std::nullopt;
    const bool is_measured = fixed && !spec.gemm->fixed(0).empty();  // else no plan goes by measurements
    const bool is_asked =
        is_measured && (kind.precision == Precision::fp32
                            ? !spec.gemm->splits_operands
                            : spec.gemm->splits_operands &&
                                  !unsupported_reason(spec, resolve(spec, *fixed), device_.info()));
    if (is_asked && spec.gemm->skinny == (kind.skinny != 0)) {
      field.spaces.emplace(&spec, SettingSpace(spec, *fixed, device_.info()));
    }
  }
  if (field.spaces.empty()) {
    fields_.pop_back();
  } else {
    add_seeds(field, known);
  }
}

void Tuner::add_seeds(Field& field, const std::vector<Tuning>& known) {
  const auto add = [&](const KernelSpec* spec, const std::optional<Tunables>& tunables) {
    if (tunables) {
      field.seeds.push_back(std::make_shared<Candidate>(Candidate{{spec, *tunables, {}}}));
    }
  };
  for (const auto& [spec, space] : field.spaces) {
    add(spec, space.adopt({}));
  }
  for (const Probe& probe : field.probes) {
    const auto schedule = built_in(probe.problem);
    const auto space = schedule ? field.spaces.find(schedule->kernel->spec) : field.spaces.end();
    if (space != field.spaces.end()) {
      add(space->first, space->second.adopt(schedule->kernel->tunables));
    }
  }
  // What was best for operands of another kind is worth a try where nothing is known of this one.
  std::vector<std::pair<const KernelSpec*, Tunables>> same;
  std::vector<std::pair<const KernelSpec*, Tunables>> other;
  for (const Tuning& tuning : known) {
    for (const Calibration& calibration : tuning.calibrations) {
      const auto space = field.spaces.find(calibration.spec);
      const auto adopted =
          space == field.spaces.end() ? std::nullopt : space->second.adopt(calibration.tunables);
      if (adopted) {
        (*adopted == calibration.tunables ? same : other).emplace_back(calibration.spec, *adopted);
      }
    }
  }
  for (const auto& [spec, tunables] : same.empty() ? other : same) {
    add(spec, tunables);
  }
  for (std::size_t i = 0; i < samples_as_seeds; ++i) {
    for (const auto& [spec, space] : field.spaces) {
      add(spec, space.sample(random_));
    }
  }
}

// What the library chooses without any measurement, which is no candidate otherwise; nothing on a GPU, whose
// kernels have been measured.
std::optional<Schedule> Tuner::built_in(const Problem& problem) const {
  const DeviceInfo& info = device_.info();
  return info.kind == DeviceKind::cpu
             ? std::optional(schedule_for(choose_on_cpu(problem, info), problem, info))
             : std::nullopt;
}

void Tuner::add_shapes() {
  for (const NamedShape& shape : options_.shapes) {
    Field* field = field_of(shape.problem);
    if (field != nullptr && fits(shape.problem, device_.info())) {
      field->probes.push_back({shape.label, shape.problem});
      field->best.emplace_back();
    }
  }
  for (const NamedShape& shape : options_.judges) {
    Field* field = field_of(shape.problem);
    if (field != nullptr && fits(shape.problem, device_.info())) {
      field->judges.push_back(shape.problem);
    }
  }
}

// Where every kernel is as fast as for the problem; null when there is no such field.
Tuner::Field* Tuner::field_of(const Problem& problem) {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    const Problem alike = edge_problems(field.kind).front();
    return std::all_of(field.spaces.begin(), field.spaces.end(), [&](const auto& space) {
      return decisive(*space.first, problem) == decisive(*space.first, alike);
    });
  });
  return found == fields_.end() ? nullptr : &*found;
}

double Tuner::seconds_left() const { return since_epoch(end_) - since_epoch(Clock::now()); }

void Tuner::search(const std::function<void()>& checkpoint) {
  CompilePool pool(programs_, options_.threads);
  double next_checkpoint = options_.budget * (1.0 - checkpoint_share);
  reserve_ = share_after_search;
  while (!enough()) {
    fill(pool);
    if (pool.pending() == 0) {
      break;  // everything has been looked at
    }
    // The device is measured while nothing compiles: launches wait for the compiler of some drivers.
    for (const CompilePool::Job& compiled : finish(pool)) {
      if (enough()) {
        break;
      }
      look_at(compiled);
    }
    if (seconds_left() < next_checkpoint) {
      next_checkpoint -= options_.budget * checkpoint_share;
      checkpoint();
    }
  }
}

std::set<Tuner::Shared> Tuner::members(const Field& field) {
  std::set<Shared> members;
  for (const std::vector<Shared>& best : field.best) {
    members.insert(best.begin(), best.end());
  }
  return members;
}

std::vector<Calibration> Tuner::calibrations(const Field& field) {
  std::vector<Calibration> calibrations;
  for (const Shared& member : members(field)) {
    calibrations.push_back(*member);
  }
  return calibrations;
}

std::vector<Calibration> Tuner::chosen(const Field& field) const {
  if (field.fitted) {
    return *field.fitted;
  }
  std::vector<Problem> problems;
  for (const Probe& probe : field.probes) {
    problems.push_back(probe.problem);
  }
  return PlannerFit(calibrations(field), problems, device_.info(), facts_).chosen();
}

// One of each: a kernel that reads all operands alike is in several fields.
std::vector<Calibration> Tuner::chosen() const {
  std::vector<Calibration> all;
  std::set<std::string> names;
  for (const Field& field : fields_) {
    for (const Calibration& calibration : chosen(field)) {
      if (names.insert(name_of(*calibration.spec, calibration.tunables)).second) {
        all.push_back(calibration);
      }
    }
  }
  return all;
}

const Tuning& Tuner::base() const {
  return resumed_.calibrations.empty() ? tuning_for(device_.info()) : resumed_;
}

// Whether it is of the precision that is searched.
bool Tuner::is_searched(const Calibration& calibration) const {
  const auto fixed = fixed_tunables(*calibration.spec, edge_problems(fields_.front().kind).front());
  const auto has = [&](const auto& tunable) {
    return at(calibration.tunables, tunable.first) == tunable.second;
  };
  return calibration.spec->gemm->splits_operands == (options_.precision != Precision::fp32) &&
         (options_.precision == Precision::fp32 || std::all_of(fixed->begin(), fixed->end(), has));
}

Tuning Tuner::result() const {
  // Where other precisions are searched, plans in FP32 stay as they are.
  Tuning all = options_.precision == Precision::fp32 || base().bandwidth <= 0.0 ? facts_ : base();
  all.calibrations = fitted_ ? *fitted_ : chosen();
  all.shapes = tuned_shapes_;
  keep_resumed(all);
  for (const Calibration& calibration : base().calibrations) {
    if (!is_searched(calibration)) {
      all.calibrations.push_back(calibration);
    }
  }
  return all;
}

void Tuner::keep_resumed(Tuning& all) const {
  for (const Calibration& calibration : resumed_.calibrations) {
    if (is_searched(calibration) && !seen_.contains(name_of(*calibration.spec, calibration.tunables))) {
      all.calibrations.push_back(calibration);
    }
  }
  for (const TunedShape& shape : resumed_.shapes) {
    if (std::none_of(tuned_shapes_.begin(), tuned_shapes_.end(),
                     [&](const TunedShape& tuned) { return same_problem(shape, tuned); })) {
      all.shapes.push_back(shape);
    }
  }
}

std::string Tuner::summary() const {
  const auto longer = [](double regret) {
    char text[64];
    std::snprintf(text, sizeof text, " (the planner's schedules take %.1f%% longer)", 100.0 * (regret - 1.0));
    return std::string(text);
  };
  const bool on_cpu = device_.info().kind == DeviceKind::cpu;
  std::string text = std::string(on_cpu ? "G" : "T") + "FLOP/s of the best:\n";
  text += fitted_ ? "All together" + longer(regret_) + "\n" : "";
  for (const Field& field : fields_) {
    text += field.kind.name() + (field.fitted ? longer(field.regret) : "") + ":";
    for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
      if (const double seconds = incumbent(field, probe); seconds < infinity) {
        char figure[64];
        std::snprintf(figure, sizeof figure, on_cpu ? " %s %.1f" : " %s %.2f",
                      field.probes[probe].label.c_str(),
                      (on_cpu ? 1e-9 : 1e-12) * field.probes[probe].problem.flops() / seconds);
        text += figure;
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace duogemm::bench
