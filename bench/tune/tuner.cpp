#include "tune/tuner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "plan/lower.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr std::size_t samples_as_seeds = 12;
constexpr std::size_t bests_of_a_probe = 3;
constexpr int attempts_to_propose = 50;

// Predicted or at first sight so many times slower than the best: not looked at any closer.
constexpr double far_behind = 1.3;
// So close to the best, other numbers of slices are tried.
constexpr double close_behind = 1.15;
// Nearer than this, two times have to be told apart in turns.
constexpr double nearly_equal = 0.03;
// Settings whose neighbours are so many times slower than the best are seldom compiled.
constexpr double hopeless_quality = 2.0;
constexpr std::size_t neighbours = 3;

// The fastest by prediction, with their numbers of slices, that are timed for a shape.
constexpr std::size_t schedules_of_a_shape = 16;

// Probes that take more than this share of the budget once are left out, as are calibrations.
constexpr double probe_share = 1.0 / 5000;

// The same for problems that the planner's schedules are judged by at the end.
constexpr double judge_share = probe_share / 4;

// The last part of the budget is for measuring the best again.
constexpr double final_share = 1.0 / 4;
constexpr double checkpoint_share = 1.0 / 10;

double since_epoch(Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string ops_of(const OperandKind& kind) { return kind.name().substr(0, 2); }

bool fits(const Problem& problem, const DeviceInfo& device) {
  const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
  const std::size_t a = bytes(problem.a_extent());
  const std::size_t b = bytes(problem.b_extent());
  const std::size_t c = bytes(problem.c_extent());
  return std::max({a, b, c}) <= device.max_allocation_bytes && a + b + c <= device.memory_bytes / 4;
}

const Schedule& fastest(const std::vector<Schedule>& schedules) {
  return *std::min_element(schedules.begin(), schedules.end(),
                           [](const Schedule& a, const Schedule& b) { return *a.seconds < *b.seconds; });
}

std::string name_of(const KernelSpec& spec, const Tunables& tunables) {
  return spec.name + " " + to_text(tunables);
}

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

// Those that the schedule's operands leave open.
Tunables open_tunables(const Schedule& schedule, const Problem& problem) {
  const KernelSpec& spec = *schedule.kernel->spec;
  const auto fixed = fixed_tunables(spec, packed(problem, schedule.pack_a, schedule.pack_b));
  Tunables open = schedule.kernel->tunables;
  erase_if(open, [&](const auto& tunable) { return fixed->contains(tunable.first); });
  return open;
}

bool of_candidate(const Error& error) { return error.status() != Status::device_error; }

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
  std::vector<Tuning> all_known = {resumed};
  all_known.insert(all_known.end(), known.begin(), known.end());
  for (const OperandKind& kind : operand_kinds()) {
    const bool asked = options.ops.empty() ||
                       std::find(options.ops.begin(), options.ops.end(), ops_of(kind)) != options.ops.end();
    if (asked && field_of(edge_problems(kind).front()) == nullptr) {
      add_field(kind, all_known);
    }
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
    if (fixed && spec.gemm->skinny == (kind.skinny != 0)) {
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
  const auto over = [&] { return stop_ || seconds_left() <= options_.budget * final_share; };
  while (!over()) {
    fill(pool);
    if (pool.pending() == 0) {
      break;  // everything has been looked at
    }
    // The device is measured while nothing compiles: launches wait for the compiler of some drivers.
    for (const CompilePool::Job& compiled : finish(pool)) {
      if (over()) {
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

// --- What to look at next --------------------------------------------------------------------------------

// Gives every thread something to compile, and something to go on with.
void Tuner::fill(CompilePool& pool) {
  std::size_t in_vain = 0;
  while (pool.pending() < 2 * options_.threads && in_vain < fields_.size()) {
    in_vain = propose(pool) ? 0 : in_vain + 1;
  }
}

// Whether there was anything left to propose.
bool Tuner::propose(CompilePool& pool) {
  const std::size_t field = turn_++ % fields_.size();
  const Shared candidate = next(fields_[field]);
  if (candidate) {
    const std::size_t id = counts_.proposed++;
    jobs_[id] = {field, candidate};
    pool.add({id, candidate->spec, candidate->tunables});
  }
  return candidate != nullptr;
}

Tuner::Shared Tuner::next(Field& field) {
  while (!field.seeds.empty()) {
    const Shared seed = field.seeds.front();
    field.seeds.pop_front();
    if (is_new(field, *seed)) {
      return seed;
    }
  }
  for (int i = 0; i < attempts_to_propose; ++i) {
    const Shared candidate = breed(field);
    if (!hopeless(field, *candidate) && is_new(field, *candidate)) {
      return candidate;
    }
  }
  return nullptr;
}

Tuner::Shared Tuner::breed(Field& field) {
  const auto chance = [&](int percent) { return static_cast<int>(random_() % 100) < percent; };
  // One time in six, the parent has proved itself on operands of another kind.
  const Field& home = chance(17) ? fields_[random_() % fields_.size()] : field;
  const Shared* found = parent(home);
  if (found == nullptr || !field.spaces.contains((*found)->spec) || chance(8)) {
    auto space =
        std::next(field.spaces.begin(), static_cast<std::ptrdiff_t>(random_() % field.spaces.size()));
    return std::make_shared<Candidate>(
        Candidate{{space->first, space->second.sample(random_).value_or(*space->second.adopt({})), {}}});
  }
  const Candidate& chosen = **found;
  const SettingSpace& space = field.spaces.at(chosen.spec);
  const std::optional<Tunables> adopted = space.adopt(chosen.tunables);
  const std::optional<Tunables> drawn = &home != &field ? adopted : draw(field, space, chosen);
  return std::make_shared<Candidate>(Candidate{{chosen.spec, drawn.value_or(chosen.tunables), {}}});
}

std::optional<Tunables> Tuner::draw(Field& field, const SettingSpace& space, const Candidate& parent_of) {
  const Shared* other = parent(field);
  if (random_() % 4 == 0 && other != nullptr && (*other)->spec == parent_of.spec) {
    return space.cross(parent_of.tunables, (*other)->tunables, random_);
  }
  return space.mutate(parent_of.tunables, random_);
}

// One of the best of any probe; the very best of it most often.
const Tuner::Shared* Tuner::parent(const Field& field) {
  for (int i = 0; i < attempts_to_propose; ++i) {
    const std::vector<Shared>& best = field.best[random_() % field.best.size()];
    if (!best.empty()) {
      return &best[std::min(random_() % best.size(), random_() % best.size())];
    }
  }
  return nullptr;
}

// By those of its neighbours that were looked at.
bool Tuner::hopeless(const Field& field, const Candidate& candidate) {
  const SettingSpace& space = field.spaces.at(candidate.spec);
  std::vector<std::pair<double, double>> near;  // distance, quality
  for (const Shared& known : field.looked_at) {
    if (known->spec == candidate.spec) {
      near.emplace_back(space.distance(known->tunables, candidate.tunables), known->quality);
    }
  }
  if (near.size() < 10 * neighbours || random_() % 10 == 0) {
    return false;
  }
  std::partial_sort(near.begin(), near.begin() + neighbours, near.end());
  return std::all_of(near.begin(), near.begin() + neighbours,
                     [](const auto& neighbour) { return neighbour.second > hopeless_quality; });
}

bool Tuner::is_new(const Field& field, const Candidate& candidate) {
  return proposed_.insert(field.kind.name() + name_of(*candidate.spec, candidate.tunables)).second;
}

// --- How good it is --------------------------------------------------------------------------------------

void Tuner::look_at(const CompilePool::Job& compiled) {
  const Job job = jobs_.extract(compiled.id).mapped();
  seen_.insert(name_of(*compiled.spec, compiled.tunables));
  if (!compiled.failure.empty()) {
    ++counts_.refused;
    return;
  }
  look_at(fields_[job.field], job.candidate);
  forget_unless_best(fields_[job.field], *job.candidate);
}

void Tuner::look_at(Field& field, const Shared& candidate) {
  try {
    if (!field.check) {
      field.check = std::make_unique<EdgeCheck>(field.kind, device_, stopwatch_.queue(), programs_);
    }
    const std::string fault = field.check->fault(*candidate->spec, candidate->tunables);
    if (!fault.empty()) {
      ++counts_.wrong;
      std::fprintf(stderr, "WRONG: %s %s, %s\n", candidate->spec->name.c_str(),
                   to_text(candidate->tunables).c_str(), fault.c_str());
      return;
    }
    static_cast<Calibration&>(*candidate) = calibrator_.calibrate(
        *candidate->spec, candidate->tunables, field.kind, [&](const std::vector<Timing>& timings) {
          candidate->timings = timings;
          return quality_of(field, *candidate) < hopeless_quality;
        });
    ++counts_.timed;
    candidate->quality = quality_of(field, *candidate);
    for (std::size_t probe = 0; probe < field.probes.size() && !enough(); ++probe) {
      contend(field, probe, candidate);
    }
  } catch (const Error& error) {
    if (!of_candidate(error)) {
      throw;
    }
    ++counts_.refused;
    return;
  }
  field.looked_at.push_back(candidate);
}

// Programs take memory, and thousands of them a lot.
void Tuner::forget_unless_best(const Field& field, const Candidate& candidate) {
  const bool kept = std::any_of(field.best.begin(), field.best.end(), [&](const auto& best) {
    return std::any_of(best.begin(), best.end(),
                       [&](const Shared& member) { return member.get() == &candidate; });
  });
  if (!kept) {
    programs_.forget(variant_of(*candidate.spec, candidate.tunables));
  }
}

// Of operands as they are, and without clusters.
std::vector<Schedule> Tuner::schedules_for(const Candidate& candidate, const Problem& problem) const {
  std::vector<Schedule> schedules = Planner::offers(candidate, problem, device_.info(), facts_);
  std::erase_if(schedules, [](const Schedule& each) { return each.clustered || each.packs(); });
  return schedules;
}

// The least ratio of its predicted time to the best known, over the probes; 0 where nothing is known.
double Tuner::quality_of(const Field& field, const Candidate& candidate) const {
  double quality = infinity;
  for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
    const auto schedules = schedules_for(candidate, field.probes[probe].problem);
    if (!schedules.empty() && *fastest(schedules).seconds <= options_.budget * probe_share) {
      quality = std::min(quality, *fastest(schedules).seconds / incumbent(field, probe));
    }
  }
  return quality;
}

double Tuner::incumbent(const Field& field, std::size_t probe) const {
  return field.best[probe].empty() ? infinity : field.best[probe].front()->scores.at(probe).seconds;
}

// Times the candidate on a probe if it may be among its best.
void Tuner::contend(Field& field, std::size_t probe, const Shared& candidate) {
  const Problem& problem = field.probes[probe].problem;
  const std::vector<Schedule> schedules = schedules_for(*candidate, problem);
  if (schedules.empty()) {
    return;
  }
  const double best = incumbent(field, probe);
  const double limit = options_.budget * probe_share;
  if (*fastest(schedules).seconds > std::min(far_behind * best, limit) ||
      !plan_of(*candidate->spec, candidate->tunables, 1, problem, device_.info())) {
    return;
  }
  const Score score = best_slices(field, probe, *candidate, schedules, best);
  candidate->quality = std::min(candidate->quality, best < infinity ? score.seconds / best : 1.0);
  if (score.seconds <= far_behind * best) {
    candidate->scores[probe] = score;
    enter(field, probe, candidate);
  }
}

// Begins with the number of slices that the model has for the best, and goes on to its neighbours while that
// helps.
Tuner::Score Tuner::best_slices(const Field& field, std::size_t probe, const Candidate& candidate,
                                const std::vector<Schedule>& schedules, double incumbent) {
  const Problem& problem = field.probes[probe].problem;
  const auto time = [&](std::ptrdiff_t at) -> Score {
    const std::int64_t slices = schedules[static_cast<std::size_t>(at)].slices;
    const auto plan = plan_of(*candidate.spec, candidate.tunables, slices, problem, device_.info());
    return {plan ? stopwatch_.seconds(*plan, problem, {.hopeless = far_behind * incumbent}) : infinity,
            slices};
  };
  const std::ptrdiff_t start = &fastest(schedules) - schedules.data();
  Score best = time(start);
  for (const std::ptrdiff_t step : {-1, 1}) {
    for (std::ptrdiff_t at = start + step; best.seconds <= close_behind * incumbent && at >= 0 &&
                                           at < static_cast<std::ptrdiff_t>(schedules.size());
         at += step) {
      const Score other = time(at);
      if (other.seconds >= best.seconds) {
        break;
      }
      best = other;
    }
  }
  return best;
}

// Puts the candidate among the best of a probe, if it belongs there.
void Tuner::enter(Field& field, std::size_t probe, const Shared& candidate) {
  std::vector<Shared>& best = field.best[probe];
  const auto score = [&](const Shared& of) -> Score& { return of->scores.at(probe); };
  if (!best.empty() && score(candidate).seconds < (1.0 + nearly_equal) * score(best.front()).seconds) {
    // Whatever the device did meanwhile: both again, in turns.
    const Problem& problem = field.probes[probe].problem;
    const auto plan = [&](const Shared& of) {
      return *plan_of(*of->spec, of->tunables, score(of).slices, problem, device_.info());
    };
    const std::vector<double> again = stopwatch_.seconds({plan(best.front()), plan(candidate)}, problem,
                                                         {.samples = 7, .sample_seconds = 2e-4});
    score(best.front()).seconds = again[0];
    score(candidate).seconds = again[1];
  }
  best.push_back(candidate);
  std::stable_sort(best.begin(), best.end(),
                   [&](const Shared& a, const Shared& b) { return score(a).seconds < score(b).seconds; });
  counts_.improved += best.front() == candidate;
  if (best.size() > bests_of_a_probe) {
    const Shared last = best.back();
    best.pop_back();
    forget_unless_best(field, *last);
  }
}

// --- What was found --------------------------------------------------------------------------------------

void Tuner::finish() {
  for (Field& field : fields_) {
    if (!enough()) {
      measure_again(field);
      const PlannerFit alone = fit({&field, 1}, calibrations(field));
      field.fitted = alone.chosen();
      field.regret = alone.regret();
    }
  }
  if (fields_.size() > 1 && !enough()) {
    // Kernels for operands as they stand against those for packed ones, which are of another field.
    const PlannerFit together = fit(fields_, chosen());
    fitted_ = together.chosen();
    regret_ = together.regret();
  }
  tune_shapes();
}

// The best of each probe in turns, and their calibrations: those that were lucky once are seldom so twice.
void Tuner::measure_again(Field& field) {
  for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
    std::vector<Shared>& best = field.best[probe];
    if (best.empty()) {
      continue;
    }
    const Problem& problem = field.probes[probe].problem;
    std::vector<Plan> plans;
    for (const Shared& member : best) {
      plans.push_back(*plan_of(*member->spec, member->tunables, member->scores.at(probe).slices, problem,
                               device_.info()));
    }
    const std::vector<double> again = stopwatch_.seconds(plans, problem, {.samples = 7});
    for (std::size_t i = 0; i < best.size(); ++i) {
      best[i]->scores.at(probe).seconds = again[i];
    }
    std::stable_sort(best.begin(), best.end(), [&](const Shared& a, const Shared& b) {
      return a->scores.at(probe).seconds < b->scores.at(probe).seconds;
    });
  }
  for (const Shared& member : members(field)) {
    static_cast<Calibration&>(*member) = calibrator_.calibrate(
        *member->spec, member->tunables, field.kind, [](const std::vector<Timing>&) { return true; });
  }
}

// What the planner decides well with, on the probes and judges of the fields, after that is taken out which
// leads it astray.
PlannerFit Tuner::fit(std::span<const Field> fields, const std::vector<Calibration>& calibrations) {
  Tuning all = facts_;
  all.calibrations = calibrations;
  const Planner planner(device_.info(), all);
  std::vector<Problem> problems;
  std::vector<double> best;
  for (const Field& field : fields) {
    for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
      if (!field.best[probe].empty()) {
        problems.push_back(field.probes[probe].problem);
        best.push_back(incumbent(field, probe));
      }
    }
    for (const Problem& judge : field.judges) {
      const Schedule picked = planner.rank(judge).front();
      if (picked.seconds.value_or(infinity) <= options_.budget * judge_share) {
        problems.push_back(judge);
        best.push_back(infinity);
      }
    }
  }
  CompilePool pool(programs_, options_.threads);
  for (const Problem& problem : problems) {
    const std::vector<Schedule> schedules = planner.rank(problem);
    compile(pool, problem, std::span(schedules).first(std::min(schedules.size(), PlannerFit::explored)));
  }
  finish(pool);
  PlannerFit fit(calibrations, problems, device_.info(), facts_);
  const auto measure = [&](const Schedule& schedule, std::size_t problem) {
    return stopwatch_.seconds(lower(schedule, problems[problem], device_.info()), problems[problem],
                              {.samples = 5});
  };
  fit.eliminate(best, measure, [&] { return enough(); });
  return fit;
}

void Tuner::compile(CompilePool& pool, const Problem& problem, std::span<const Schedule> schedules) const {
  for (const Schedule& schedule : schedules) {
    for (const Step& step : lower(schedule, problem, device_.info()).steps) {
      pool.add({0, step.kernel->spec, step.kernel->tunables});
    }
  }
}

// Everything that was added, once it is compiled.
std::vector<CompilePool::Job> Tuner::finish(CompilePool& pool) const {
  constexpr double patience = 0.1;
  std::vector<CompilePool::Job> done;
  while (!stop_ && pool.pending() > 0) {
    if (auto job = pool.take(patience)) {
      done.push_back(std::move(*job));
    }
  }
  return done;
}

void Tuner::tune_shapes() {
  Tuning all = facts_;
  for (const Field& field : fields_) {
    const std::vector<Calibration> found = calibrations(field);
    all.calibrations.insert(all.calibrations.end(), found.begin(), found.end());
  }
  std::vector<std::vector<Schedule>> schedules;
  CompilePool pool(programs_, options_.threads);
  for (const NamedShape& shape : options_.shapes) {
    schedules.push_back(worth_trying(shape.problem, all));
    compile(pool, shape.problem, schedules.back());
  }
  finish(pool);
  for (std::size_t i = 0; i < options_.shapes.size(); ++i) {
    if (stop_) {
      return;
    }
    if (const auto tuned = tune(options_.shapes[i].problem, schedules[i])) {
      tuned_shapes_.push_back(*tuned);
    }
  }
}

std::vector<Schedule> Tuner::worth_trying(const Problem& problem, const Tuning& all) const {
  if (!fits(problem, device_.info())) {
    return {};
  }
  std::vector<Schedule> schedules = Planner(device_.info(), all).rank(problem);
  schedules.resize(std::min(schedules.size(), schedules_of_a_shape));
  return schedules;
}

std::optional<TunedShape> Tuner::tune(const Problem& problem, const std::vector<Schedule>& schedules) {
  std::vector<std::pair<double, Schedule>> timed;
  double best = infinity;
  for (const Schedule& schedule : schedules) {
    try {
      const double seconds = stopwatch_.seconds(lower(schedule, problem, device_.info()), problem,
                                                {.hopeless = far_behind * best});
      timed.emplace_back(seconds, schedule);
      best = std::min(best, seconds);
    } catch (const Error& error) {
      if (!of_candidate(error)) {
        throw;
      }
    }
  }
  if (timed.empty()) {
    return std::nullopt;
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  timed.resize(std::min(timed.size(), bests_of_a_probe));
  std::vector<Plan> plans;
  for (const auto& [seconds, schedule] : timed) {
    plans.push_back(lower(schedule, problem, device_.info()));
  }
  const std::vector<double> again = stopwatch_.seconds(plans, problem, {.samples = 7});
  const auto first = static_cast<std::size_t>(std::min_element(again.begin(), again.end()) - again.begin());
  const Schedule& winner = timed[first].second;
  return TunedShape{problem.a_op == Transpose::yes,
                    problem.b_op == Transpose::yes,
                    problem.m,
                    problem.n,
                    problem.k,
                    problem.batch,
                    {winner.kernel->spec, open_tunables(winner, problem), winner.slices, winner.clustered,
                     winner.pack_a, winner.pack_b},
                    again[first]};
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

Tuning Tuner::result() const {
  Tuning all = facts_;
  all.calibrations = fitted_ ? *fitted_ : chosen();
  all.shapes = tuned_shapes_;
  keep_resumed(all);
  return all;
}

void Tuner::keep_resumed(Tuning& all) const {
  for (const Calibration& calibration : resumed_.calibrations) {
    if (!seen_.contains(name_of(*calibration.spec, calibration.tunables))) {
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
  std::string text = fitted_ ? "All together" + longer(regret_) + "\n" : "";
  for (const Field& field : fields_) {
    text += field.kind.name() + (field.fitted ? longer(field.regret) : "") + ":";
    for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
      if (const double seconds = incumbent(field, probe); seconds < infinity) {
        char figure[64];
        std::snprintf(figure, sizeof figure, " %s %.2f", field.probes[probe].label.c_str(),
                      1e-12 * field.probes[probe].problem.flops() / seconds);
        text += figure;
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace duogemm::bench
