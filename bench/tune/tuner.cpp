#include "tune/tuner.h"

#include <algorithm>

#include "families/kernel_parts.h"
#include "problem/precision.h"
#include "support/format.h"
#include "tune/tuned_shapes.h"

namespace duogemm::bench {
namespace {

// The first share is left of the budget when the search ends, the next when what it found has been measured
// again, and the last, for comparing before and after, when the best of each shape has been looked for.
constexpr double share_after_search = 1.0 / 4;
constexpr double share_after_fit = 3.0 / 16;
constexpr double share_after_shapes = 1.0 / 8;

constexpr double checkpoint_share = 1.0 / 10;

std::vector<Tuning> joined(const Tuning& first, const std::vector<Tuning>& others) {
  std::vector<Tuning> all = {first};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

Tuner::Tuner(Device& device, const TuneOptions& options, const Tuning& resumed,
             const std::vector<Tuning>& known, const std::atomic<bool>& stop)
    : bench_(device, options, stop),
      resumed_(resumed),
      fields_(make_fields(bench_, joined(resumed, known))),
      proposals_(fields_, bench_.random),
      trials_(bench_, counts_) {}

void Tuner::search(const std::function<void()>& checkpoint) {
  double next_checkpoint = bench_.seconds_of(1.0 - checkpoint_share);
  bench_.reserve(share_after_search);
  while (!bench_.enough()) {
    const std::vector<Proposals::Proposal> proposals = proposals_.next(2 * bench_.options.threads);
    if (proposals.empty()) {
      break;  // everything has been looked at
    }
    counts_.proposed += proposals.size();
    std::vector<const Variant*> kernels;
    for (const auto& [field, setting] : proposals) {
      kernels.push_back(&variant_of(*setting->spec, setting->tunables));
    }
    const auto refusals = bench_.compile(kernels);
    for (std::size_t i = 0; i < proposals.size() && !bench_.enough(); ++i) {
      seen_.insert(name_of(*proposals[i].setting));
      if (refusals[i]->empty()) {
        trials_.look_at(*proposals[i].field, proposals[i].setting);
      } else {
        ++counts_.refused;
      }
    }
    if (seconds_left() < next_checkpoint) {
      next_checkpoint -= bench_.seconds_of(checkpoint_share);
      checkpoint();
    }
  }
}

void Tuner::finish() {
  bench_.reserve(bench_.options.shapes.empty() ? share_after_shapes : share_after_fit);
  for (Field& field : fields_) {
    if (!bench_.enough()) {
      trials_.measure_again(field);
      const PlannerFit alone = fit({&field, 1}, field.calibrations());
      field.fitted = alone.chosen();
      field.regret = alone.regret();
    }
  }
  if (fields_.size() > 1 && !bench_.enough()) {
    // Kernels for operands as they stand versus those for packed ones, which are of another field.
    const PlannerFit together = fit(fields_, chosen());
    fitted_ = together.chosen();
    regret_ = together.regret();
  }
  bench_.reserve(share_after_shapes);
  tuned_shapes_ = tune_shapes(fields_, bench_);
}

// With the answer's choice the planner decides well on the probes and judges of the fields: what leads it
// astray is taken out.
PlannerFit Tuner::fit(std::span<const Field> fields, const std::vector<Calibration>& calibrations) {
  Tuning all = bench_.facts;
  all.calibrations = calibrations;
  const Planner planner(bench_.info(), all);
  std::vector<Problem> problems;
  std::vector<double> best;
  for (const Field& field : fields) {
    for (std::size_t probe = 0; probe < field.probes.size(); ++probe) {
      if (!field.best[probe].empty()) {
        problems.push_back(field.probes[probe].problem);
        best.push_back(field.incumbent(probe));
      }
    }
    for (const Problem& judge : field.judges) {
      if (planner.rank(judge).front().seconds.value_or(infinity) <= bench_.seconds_of(judge_share)) {
        problems.push_back(judge);
        best.push_back(infinity);
      }
    }
  }
  std::vector<const Variant*> kernels;
  for (const Problem& problem : problems) {
    const std::vector<Schedule> schedules = planner.rank(problem);
    for (std::size_t i = 0; i < std::min(schedules.size(), PlannerFit::explored); ++i) {
      bench_.add_kernels(schedules[i], problem, kernels);
    }
  }
  bench_.compile(kernels);
  PlannerFit fit(calibrations, problems, bench_.info(), bench_.facts);
  const auto measure = [&](const Schedule& schedule, std::size_t problem) {
    return bench_.seconds(schedule, problems[problem], {.samples = 5});
  };
  fit.eliminate(best, measure, [&] { return bench_.enough(); });
  return fit;
}

std::vector<Calibration> Tuner::chosen(const Field& field) const {
  if (field.fitted) {
    return *field.fitted;
  }
  std::vector<Problem> problems;
  for (const Probe& probe : field.probes) {
    problems.push_back(probe.problem);
  }
  return PlannerFit(field.calibrations(), problems, bench_.info(), bench_.facts).chosen();
}

// Answers one of each: a kernel that reads all operands alike is in several fields.
std::vector<Calibration> Tuner::chosen() const {
  std::vector<Calibration> all;
  std::set<std::string> names;
  for (const Field& field : fields_) {
    for (const Calibration& calibration : chosen(field)) {
      if (names.insert(name_of(calibration)).second) {
        all.push_back(calibration);
      }
    }
  }
  return all;
}

const Tuning& Tuner::base() const {
  return resumed_.calibrations.empty() ? tuning_for(bench_.info()) : resumed_;
}

// A search looks at kernels of one precision.
bool Tuner::is_searched(const Calibration& calibration) const {
  const bool in_terms = bench_.options.precision != Precision::fp32;
  if (calibration.spec->family->multiplies_in(Precision::fp32) == in_terms) {
    return false;
  }
  const auto fixed = fixed_tunables(*calibration.spec, edge_problems(fields_.front().kind).front());
  return !in_terms || std::ranges::all_of(*fixed, [&](const auto& tunable) {
    return at(calibration.tunables, tunable.first) == tunable.second;
  });
}

Tuning Tuner::result() const {
  // A search for another precision leaves plans in FP32 as they are.
  const bool in_fp32 = bench_.options.precision == Precision::fp32;
  Tuning all = in_fp32 || base().bandwidth <= 0.0 ? bench_.facts : base();
  all.calibrations = fitted_ ? *fitted_ : chosen();
  all.shapes = tuned_shapes_;
  for (const Calibration& calibration : resumed_.calibrations) {
    if (is_searched(calibration) && !seen_.contains(name_of(calibration))) {
      all.calibrations.push_back(calibration);
    }
  }
  for (const Calibration& calibration : base().calibrations) {
    if (!is_searched(calibration)) {
      all.calibrations.push_back(calibration);
    }
  }
  for (const TunedShape& shape : resumed_.shapes) {
    if (std::ranges::none_of(tuned_shapes_, [&](const auto& t) { return key_of(t) == key_of(shape); })) {
      all.shapes.push_back(shape);
    }
  }
  return all;
}

Comparison Tuner::compare(const Planner& before, const Planner& after) {
  bench_.reserve(0.0);
  return bench::compare(shapes_to_compare(fields_, bench_), before, after, bench_, true);
}

Comparison Tuner::compare_on(const std::vector<NamedShape>& shapes, const Planner& before,
                             const Planner& after) {
  return bench::compare(shapes, before, after, bench_, false);
}

std::string Tuner::summary() const {
  const auto longer = [](double regret) {
    return format(" (the planner's schedules take %.1f%% longer)", 100.0 * (regret - 1.0));
  };
  const bool cpu = bench_.on_cpu();
  std::string text = std::string(cpu ? "G" : "T") + "FLOP/s of the best:\n";
  text += fitted_ ? "All together" + longer(regret_) + "\n" : "";
  for (const Field& field : fields_) {
    text += field.kind.name() + (field.fitted ? longer(field.regret) : "") + ":";
    for (std::size_t i = 0; i < field.probes.size(); ++i) {
      const auto& [label, problem] = field.probes[i];
      if (const double seconds = field.incumbent(i); seconds < infinity) {
        text +=
            " " + label + format(cpu ? " %.1f" : " %.2f", (cpu ? 1e-9 : 1e-12) * problem.flops() / seconds);
      }
    }
    text += "\n";
  }
  return text;
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
