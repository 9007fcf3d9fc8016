#include "tune/tuner.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "families/kernel_parts.h"
#include "output/table.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "support/format.h"
#include "timing/device_speed.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The first share is left of the budget when the search ends, the next when what it found has been measured
// again, and the last, for comparing before and after, when the best of each shape has been looked for.
constexpr double share_after_search = 1.0 / 2;
constexpr double share_after_fit = 3.0 / 16;
constexpr double share_after_shapes = 1.0 / 8;

constexpr double checkpoint_share = 1.0 / 10;

// The shares of the budget that probes, and problems that the planner is judged by at the end, may take once.
constexpr double probe_share = 1.0 / 5000;
constexpr double judge_share = probe_share / 4;

// A setting that is predicted, or at first sight, to be this many times slower than the best is not looked at
// any closer.
constexpr double far_slower = 1.3;
// This close to the best, other numbers of splits are tried.
constexpr double close_to_best = 1.15;
// Nearer than this, two times have to be told apart in turns.
constexpr double nearly_equal = 0.03;
// Slower than this at first sight may be bad luck.
constexpr double doubtful = 0.99;

constexpr std::size_t bests_of_a_probe = 3;

// The fastest by prediction, with their numbers of splits, are timed for a shape.
constexpr std::size_t schedules_of_a_shape = 16;
// This many of the fastest of them are timed once more, in turns.
constexpr std::size_t finalists = 3;

// The device's own facts, and what nobody measures here.
Tuning facts_of(Device& device, Stopwatch& stopwatch, ProgramCache& programs, const Tuning& base,
                const std::atomic<bool>& stop) {
  const DeviceInfo& info = device.info();
  Tuning facts = base;
  facts.source.clear();
  facts.evidence.clear();
  if (info.kind == DeviceKind::gpu) {
    const Bandwidth read = measure_bandwidth(device, stopwatch.queue(), programs, stop);
    facts.reading = read.memory;
    facts.bandwidth = written_share * read.memory;
    facts.cached = read.cache;
  }
  facts.launch = stopwatch.launch();
  facts.clock = 1e6 * static_cast<double>(info.clock_mhz);
  facts.units = static_cast<double>(info.compute_units);
  facts.calibrations.clear();
  facts.shapes.clear();
  return facts;
}

// One for each kind of operands that was asked for and that kernels for the device tell apart.
std::vector<Field> make_fields(const TuneOptions& options, const DeviceInfo& device) {
  std::vector<Field> fields;
  for (const OperandKind& kind : operand_kinds(options.precision)) {
    const bool asked = options.ops.empty() || std::ranges::find(options.ops, kind.ops) != options.ops.end();
    if (asked && field_of(fields, edge_problems(kind).front()) == nullptr) {
      if (Field field = make_field(kind, device); !field.spaces.empty()) {
        fields.push_back(std::move(field));
      }
    }
  }
  if (fields.empty()) {
    throw Error(Status::unsupported, device.name + " has no kernels for " + to_text(options.precision));
  }
  return fields;
}

// The fastest by prediction; adds what they run to `kernels`.
std::vector<Schedule> first_ranked(std::size_t most, const Planner& planner, const Problem& problem,
                                   std::vector<const Variant*>& kernels) {
  std::vector<Schedule> schedules = planner.rank(problem);
  schedules.resize(std::min(schedules.size(), most));
  for (const Schedule& schedule : schedules) {
    for (const Step& step : lower(schedule, problem, planner.device()).steps) {
      kernels.push_back(step.kernel);
    }
  }
  return schedules;
}

// Says whether no setting failed; throws where it is the device.
bool succeeds(const std::function<void()>& trial) {
  try {
    trial();
    return true;
  } catch (const Error& error) {
    if (error.status() == Status::device_error) {
      throw;
    }
    return false;
  }
}

}  // namespace

Tuner::Tuner(Device& device, const TuneOptions& options, const Tuning& base, const std::vector<Tuning>& known,
             const std::atomic<bool>& stop)
    : device_(device),
      info_(device.info()),
      options_(options),
      stop_(stop),
      end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budget))),
      programs_(device, DiskCache({})),
      stopwatch_(device, programs_),
      calibrator_{stopwatch_, info_, CostFacts(tuning_for(info_), info_).cache, probe_share * options.budget},
      random_(options.seed),
      facts_(facts_of(device, stopwatch_, programs_, base, stop)),
      base_(base),
      fields_(make_fields(options, info_)),
      proposals_(fields_, random_) {
  std::vector<Tuning> all = {base};
  all.insert(all.end(), known.begin(), known.end());
  for (Field& field : fields_) {
    field.add_seeds(all, info_, random_);
  }
  // The shapes that were asked for are probes, too.
  for (const auto& [label, problem] : options.shapes) {
    if (Field* field = field_of(fields_, problem); field != nullptr && fits(problem, info_)) {
      field->probes.push_back({label, problem});
    }
  }
  for (const auto& [label, problem] : options.judges) {
    if (Field* field = field_of(fields_, problem); field != nullptr && fits(problem, info_)) {
      field->judges.push_back(problem);
    }
  }
}

std::vector<std::optional<std::string>> Tuner::compile(const std::vector<const Variant*>& kernels) {
  return compile_all(kernels, programs_, options_.threads, [this] { return enough(); });
}

void Tuner::search(const std::function<void()>& checkpoint) {
  double next_checkpoint = (1.0 - checkpoint_share) * options_.budget;
  reserve_ = share_after_search;
  while (!enough()) {
    const std::vector<Proposals::Proposal> proposals = proposals_.next(2 * options_.threads);
    if (proposals.empty()) {
      break;  // everything has been looked at
    }
    counts_.proposed += proposals.size();
    std::vector<const Variant*> kernels;
    for (const auto& [field, setting] : proposals) {
      kernels.push_back(&variant_of(*setting->spec, setting->tunables));
    }
    const auto refusals = compile(kernels);
    for (std::size_t i = 0; i < proposals.size() && !enough(); ++i) {
      const Proposals::Proposal& proposal = proposals[i];
      seen_.insert(name_of(*proposal.setting));
      const bool runs = refusals[i]->empty() && succeeds([&] { try_out(*proposal.field, proposal.setting); });
      if (!runs) {
        ++counts_.refused;
        failed_.insert(name_of(*proposal.setting));
        continue;
      }
      erase_unless_best(*proposal.field, *proposal.setting);
    }
    if (seconds_left() < next_checkpoint) {
      next_checkpoint -= checkpoint_share * options_.budget;
      checkpoint();
    }
  }
}

void Tuner::try_out(Field& field, const SharedSetting& setting) {
  if (!field.check) {
    field.check = std::make_unique<EdgeCheck>(field.kind, device_, stopwatch_.queue(), programs_);
  }
  const std::string fault = field.check->fault(*setting->spec, setting->tunables);
  if (!fault.empty()) {
    ++counts_.wrong;
    failed_.insert(name_of(*setting));
    std::fprintf(stderr, "WRONG: %s, %s\n", name_of(*setting).c_str(), fault.c_str());
    return;
  }
  calibrate(field, *setting, false);
  ++counts_.timed;
  setting->quality = quality_of(field, *setting);
  for (std::size_t i = 0; i < field.probes.size() && !enough(); ++i) {
    time_on(field, field.probes[i], setting);
  }
  field.looked_at.push_back(setting);
}

// whole: even where the first two timings are hopeless.
void Tuner::calibrate(const Field& field, TriedSetting& setting, bool whole) {
  static_cast<Calibration&>(setting) = calibrator_.calibrate(
      *setting.spec, setting.tunables, field.kind, [&](const std::vector<Timing>& timings) {
        return whole || quality_of(field, {setting.spec, setting.tunables, timings}) < hopeless_quality;
      });
}

// Programs take memory, and thousands of them a lot.
void Tuner::erase_unless_best(const Field& field, const TriedSetting& setting) {
  if (std::ranges::none_of(field.members(),
                           [&](const SharedSetting& member) { return member.get() == &setting; })) {
    programs_.erase(variant_of(*setting.spec, setting.tunables));
  }
}

// Only schedules for operands as they are, and without clusters.
std::vector<Schedule> Tuner::schedules_for(const Calibration& setting, const Problem& problem) const {
  std::vector<Schedule> schedules = Planner::offers(setting, problem, info_, facts_);
  std::erase_if(schedules, [](const Schedule& each) { return each.clustered || each.packs(); });
  return schedules;
}

// This is the least ratio of its predicted time to the best known, over the probes; 0 where nothing is known.
double Tuner::quality_of(const Field& field, const Calibration& setting) const {
  double quality = infinity;
  for (const Probe& probe : field.probes) {
    const auto schedules = schedules_for(setting, probe.problem);
    if (!schedules.empty() && *fastest(schedules).seconds <= probe_share * options_.budget) {
      quality = std::min(quality, *fastest(schedules).seconds / probe.seconds());
    }
  }
  return quality;
}

// Times the setting where it may be among the best of the probe.
void Tuner::time_on(Field& field, Probe& probe, const SharedSetting& setting) {
  const std::vector<Schedule> schedules = schedules_for(*setting, probe.problem);
  const double incumbent = probe.seconds();
  const double limit = std::min(far_slower * incumbent, probe_share * options_.budget);
  if (schedules.empty() || *fastest(schedules).seconds > limit ||
      !schedule_of(*setting, 1, probe.problem, info_)) {
    return;
  }
  const Probe::Score score = best_splits(probe, setting, schedules);
  setting->quality = std::min(setting->quality, incumbent < infinity ? score.seconds / incumbent : 1.0);
  if (score.seconds > far_slower * incumbent) {
    return;
  }
  probe.best.push_back(score);
  if (score.seconds < (1.0 + nearly_equal) * incumbent && probe.best.size() > 1) {
    // Whatever the device did meanwhile: both again, in turns.
    Probe::Score both[] = {probe.best.front(), score};
    time_again(probe.problem, both, {.samples = 7, .sample_seconds = 2e-4});
    probe.best.front() = both[0];
    probe.best.back() = both[1];
  }
  std::ranges::stable_sort(probe.best, {}, &Probe::Score::seconds);
  counts_.improved += probe.best.front().setting == setting;
  if (probe.best.size() > bests_of_a_probe) {
    const SharedSetting last = probe.best.back().setting;
    probe.best.pop_back();
    erase_unless_best(field, *last);
  }
}

// Begins with the number of splits that the model has for the best, and goes on to its neighbours while that
// helps.
Probe::Score Tuner::best_splits(const Probe& probe, const SharedSetting& setting,
                                const std::vector<Schedule>& schedules) {
  const double incumbent = probe.seconds();
  const auto time = [&](std::ptrdiff_t at) -> Probe::Score {
    const std::int64_t splits = schedules[static_cast<std::size_t>(at)].splits;
    const auto schedule = schedule_of(*setting, splits, probe.problem, info_);
    const Effort effort{.hopeless = far_slower * incumbent};
    return {setting, splits, schedule ? stopwatch_.seconds(*schedule, probe.problem, effort) : infinity};
  };
  const std::ptrdiff_t start = &fastest(schedules) - schedules.data();
  Probe::Score best = time(start);
  for (const std::ptrdiff_t step : {-1, 1}) {
    for (std::ptrdiff_t at = start + step; best.seconds <= close_to_best * incumbent && at >= 0 &&
                                           at < static_cast<std::ptrdiff_t>(schedules.size());
         at += step) {
      const Probe::Score other = time(at);
      if (other.seconds >= best.seconds) {
        break;
      }
      best = other;
    }
  }
  return best;
}

void Tuner::time_again(const Problem& problem, std::span<Probe::Score> scores, const Effort& effort) {
  std::vector<Schedule> schedules;
  for (const Probe::Score& score : scores) {
    schedules.push_back(*schedule_of(*score.setting, score.splits, problem, info_));
  }
  const std::vector<double> seconds = stopwatch_.seconds(schedules, problem, effort);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i].seconds = seconds[i];
  }
}

void Tuner::finish() {
  reserve_ = options_.shapes.empty() ? share_after_shapes : share_after_fit;
  for (Field& field : fields_) {
    if (!enough()) {
      measure_again(field);
    }
  }
  if (!enough()) {
    fit_ = fit(with_base(found()));
  }
  reserve_ = share_after_shapes;
  tune_shapes();
}

// Times the best of each probe once more, in turns, and calibrates them: those that were lucky once are
// seldom so twice.
void Tuner::measure_again(Field& field) {
  for (Probe& probe : field.probes) {
    if (!probe.best.empty() && !enough()) {
      time_again(probe.problem, probe.best, {.samples = 7});
      std::ranges::stable_sort(probe.best, {}, &Probe::Score::seconds);
    }
  }
  for (const SharedSetting& member : field.members()) {
    if (enough()) {
      return;
    }
    calibrate(field, *member, true);
  }
}

// With the answer's choice the planner decides well on the probes and judges of the fields: what leads it
// astray is taken out.
PlannerFit Tuner::fit(const std::vector<Calibration>& calibrations) {
  Tuning all = facts_;
  all.calibrations = calibrations;
  const Planner planner(info_, all);
  std::vector<Problem> problems;
  std::vector<double> best;
  for (const Field& field : fields_) {
    for (const Probe& probe : field.probes) {
      if (!probe.best.empty()) {
        problems.push_back(probe.problem);
        best.push_back(probe.seconds());
      }
    }
    for (const Problem& judge : field.judges) {
      if (planner.rank(judge).front().seconds.value_or(infinity) <= judge_share * options_.budget) {
        problems.push_back(judge);
        best.push_back(infinity);
      }
    }
  }
  std::vector<const Variant*> kernels;
  for (const Problem& problem : problems) {
    first_ranked(explored_kernels, planner, problem, kernels);
  }
  compile(kernels);
  const auto measure = [&](const Schedule& schedule, std::size_t problem) {
    double seconds = 3600.0;  // for what does not run
    succeeds([&] { seconds = stopwatch_.seconds(schedule, problems[problem], {.samples = 5}); });
    return seconds;
  };
  return fit_planner(calibrations, problems, info_, facts_, best, measure, [this] { return enough(); });
}

// The shapes that were asked for, as far as the budget lasts.
void Tuner::tune_shapes() {
  Tuning all = facts_;
  for (const Field& field : fields_) {
    std::ranges::move(field.calibrations(), std::back_inserter(all.calibrations));
  }
  const Planner planner(info_, all);
  std::vector<std::vector<Schedule>> schedules;
  std::vector<const Variant*> kernels;
  for (const NamedShape& shape : options_.shapes) {
    schedules.push_back(fits(shape.problem, info_)
                            ? first_ranked(schedules_of_a_shape, planner, shape.problem, kernels)
                            : std::vector<Schedule>());
  }
  compile(kernels);
  for (std::size_t i = 0; i < schedules.size() && !enough(); ++i) {
    if (const auto found = tune(options_.shapes[i].problem, schedules[i])) {
      tuned_shapes_.push_back(*found);
    }
  }
}

std::optional<TunedShape> Tuner::tune(const Problem& problem, const std::vector<Schedule>& schedules) {
  std::vector<Schedule> timed;  // with what was measured in the place of the prediction
  double best = infinity;
  for (Schedule schedule : schedules) {
    succeeds([&] {
      schedule.seconds = stopwatch_.seconds(schedule, problem, {.hopeless = far_slower * best});
      best = std::min(best, *schedule.seconds);
      timed.push_back(schedule);
    });
  }
  if (timed.empty()) {
    return std::nullopt;
  }
  std::ranges::stable_sort(timed, {}, &Schedule::seconds);
  timed.resize(std::min(timed.size(), finalists));
  const std::vector<double> again = stopwatch_.seconds(timed, problem, {.samples = 7});
  const auto first = static_cast<std::size_t>(std::ranges::min_element(again) - again.begin());
  const Schedule& winner = timed[first];
  // Without those that the schedule's operands fix.
  Tunables open = winner.kernel->tunables;
  const auto fixed = fixed_tunables(*winner.kernel->spec, packed(problem, winner.pack_a, winner.pack_b));
  erase_if(open, [&](const auto& tunable) { return fixed->contains(tunable.first); });
  return TunedShape{
      problem.a_op == Transpose::yes,
      problem.b_op == Transpose::yes,
      problem.m,
      problem.n,
      problem.k,
      problem.batch,
      {winner.kernel->spec, open, winner.splits, winner.clustered, winner.pack_a, winner.pack_b},
      again[first]};
}

// Answers one of each: a kernel that reads all operands alike is in several fields.
std::vector<Calibration> Tuner::found() const {
  std::vector<Calibration> all;
  std::set<std::string> names;
  for (const Field& field : fields_) {
    for (const Calibration& calibration : field.calibrations()) {
      if (names.insert(name_of(calibration)).second) {
        all.push_back(calibration);
      }
    }
  }
  return all;
}

// Of what was found, what the planner chooses for the probes and judges, as far as there was time to tell.
std::vector<Calibration> Tuner::chosen() const {
  if (fit_) {
    return fit_->chosen;
  }
  std::vector<Problem> problems;
  for (const Field& field : fields_) {
    std::ranges::transform(field.probes, std::back_inserter(problems), &Probe::problem);
  }
  return fit_planner(found(), problems, info_, facts_).chosen;
}

// Adds what there was for the fields that are searched, as it was measured last.
std::vector<Calibration> Tuner::with_base(std::vector<Calibration> all) const {
  std::set<std::string> names;
  for (const Calibration& each : all) {
    names.insert(name_of(each));
  }
  std::map<std::string, Calibration> again;
  for (const Field& field : fields_) {
    for (const SharedSetting& setting : field.looked_at) {
      if (setting->quality < hopeless_quality) {
        again.emplace(name_of(*setting), *setting);
      }
    }
  }
  for (const Calibration& each : base_.calibrations) {
    const std::string name = name_of(each);
    const auto measured = again.find(name);
    if (is_searched(each) && !failed_.contains(name) && (measured != again.end() || !seen_.contains(name)) &&
        names.insert(name).second) {
      all.push_back(measured != again.end() ? measured->second : each);
    }
  }
  return all;
}

// A search looks at kernels of one precision, for the operands that were asked for.
bool Tuner::is_searched(const Calibration& calibration) const {
  return std::ranges::any_of(fields_, [&](const Field& field) {
    const auto space = field.spaces.find(calibration.spec);
    return space != field.spaces.end() && space->second.adopt(calibration.tunables) == calibration.tunables;
  });
}

Tuning Tuner::result() const {
  // A search for another precision leaves plans in FP32 as they are.
  const bool in_fp32 = options_.precision == Precision::fp32;
  Tuning all = in_fp32 || base_.bandwidth <= 0.0 ? facts_ : base_;
  all.calibrations = chosen();
  all.shapes = tuned_shapes_;
  for (const Calibration& calibration : base_.calibrations) {
    if (!is_searched(calibration) || (!fit_ && !seen_.contains(name_of(calibration)))) {
      all.calibrations.push_back(calibration);
    }
  }
  std::ranges::sort(all.calibrations, {}, [](const Calibration& each) { return name_of(each); });
  const auto key = [](const TunedShape& s) {
    return std::tuple(s.a_transposed, s.b_transposed, s.m, s.n, s.k, s.batch);
  };
  for (const TunedShape& shape : base_.shapes) {
    if (std::ranges::find(tuned_shapes_, key(shape), key) == tuned_shapes_.end()) {
      all.shapes.push_back(shape);
    }
  }
  return all;
}

Comparison Tuner::compare(const Planner& before, const Planner& after) {
  reserve_ = 0.0;
  double rate = 0.0;
  for (const Field& field : fields_) {
    for (const Probe& probe : field.probes) {
      rate = std::max(rate, probe.problem.flops() / probe.seconds());
    }
  }
  std::vector<NamedShape> all = options_.shapes;
  std::ranges::copy_if(options_.fresh, std::back_inserter(all), [&](const NamedShape& shape) {
    return field_of(fields_, shape.problem) != nullptr &&
           before.select(shape.problem).seconds.value_or(shape.problem.flops() / rate) <=
               judge_share * options_.budget;
  });
  return compare(all, before, after, true);
}

// limited: only until the budget is used up.
Comparison Tuner::compare(const std::vector<NamedShape>& shapes, const Planner& before, const Planner& after,
                          bool limited) {
  Comparison comparison;
  for (const NamedShape& shape : shapes) {
    const Problem& problem = shape.problem;
    if (limited ? enough() : stop_.load()) {
      break;
    }
    if (!fits(problem, info_)) {
      continue;
    }
    const Schedule both[] = {before.select(problem), after.select(problem)};
    if (to_text(both[0]) == to_text(both[1])) {
      comparison.unchanged.push_back(shape.label);
      continue;
    }
    succeeds([&] {
      const bool cpu = info_.kind == DeviceKind::cpu;
      Effort effort{.samples = 7, .sample_seconds = cpu ? 5e-3 : 2e-4};
      std::vector<double> seconds = stopwatch_.seconds(both, problem, effort);
      if (seconds[0] < doubtful * seconds[1]) {
        effort.samples = 21;
        seconds = stopwatch_.seconds(both, problem, effort);
      }
      const bool asked =
          std::ranges::find(options_.shapes, shape.label, &NamedShape::label) != options_.shapes.end();
      comparison.timed.push_back({shape.label, problem, asked, seconds[0], seconds[1]});
    });
  }
  return comparison;
}

std::string Tuner::summary() const {
  const bool cpu = info_.kind == DeviceKind::cpu;
  const auto speed = [&](const Probe& probe) {
    return (cpu ? 1e-9 : 1e-12) * probe.problem.flops() / probe.seconds();
  };
  Table table = {left("operands"), "shapes", "slowest", "fastest"};
  for (const Field& field : fields_) {
    std::vector<double> speeds;
    for (const Probe& probe : field.probes) {
      if (probe.seconds() < infinity) {
        speeds.push_back(speed(probe));
      }
    }
    if (!speeds.empty()) {
      const auto [slowest, fastest] = std::ranges::minmax(speeds);
      const char* const pattern = cpu ? "%.1f" : "%.2f";
      table.add_row({field.kind.name(), std::to_string(speeds.size()), format(pattern, slowest),
                     format(pattern, fastest)});
    }
  }
  std::string text = std::string(cpu ? "G" : "T") + "FLOP/s of the best:\n" + table.text();
  if (fit_) {
    text += "The planner's schedules, of " + std::to_string(fit_->chosen.size()) + " settings, take" +
            format(" %.1f%% longer.\n", 100.0 * (fit_->regret - 1.0));
  }
  return text;
}

std::vector<std::optional<std::string>> compile_all(std::span<const Variant* const> kernels,
                                                    ProgramCache& programs, unsigned threads,
                                                    const std::function<bool()>& enough) {
  std::vector<std::optional<std::string>> refusals(kernels.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> pool;
  for (unsigned thread = 0; thread < threads; ++thread) {
    pool.emplace_back([&] {
      for (std::size_t i = next++; i < kernels.size() && !enough(); i = next++) {
        refusals[i].emplace();
        try {
          programs.get(*kernels[i]);
        } catch (const std::exception& error) {
          refusals[i] = error.what();
        }
      }
    });
  }
  pool.clear();  // waits for all
  return refusals;
}

Json to_json(const TuneReport& report) {
  Json json = dated_head("duogemm.tune/1");
  json.update({{"device", to_json(report.device)},
               {"budget_s", report.budget},
               {"seed", report.seed},
               {"precision", to_text(report.precision)},
               {"proposed", report.counts.proposed},
               {"refused", report.counts.refused},
               {"wrong", report.counts.wrong},
               {"timed", report.counts.timed},
               {"written", report.written},
               {"warnings", report.warnings},
               {"compared", to_json(report.compared)},
               {"held_out", to_json(report.held_out)}});
  return json;
}

}  // namespace duogemm::bench
