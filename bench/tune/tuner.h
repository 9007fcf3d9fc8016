// The search for the settings of the production kernels that are fastest on a device.
//
// Every setting that is looked at is compiled for one kind of operands, checked on problems that show
// mistakes, and calibrated for the cost model (trials.h). The model then tells on which probes it may be
// among the best; there it is timed. Those that were the best of a probe are the parents of the next settings
// (field.h). Compiling takes the most time by far: it happens on several threads at once, between the
// measurements, because launches wait for the compiler of some drivers.
#pragma once

#include <atomic>
#include <chrono>

#include "tune/field.h"

namespace duogemm::bench {

struct TuneOptions {
  double budget = 300.0;  // seconds
  unsigned threads = 1;   // that compile
  std::uint64_t seed = 1;
  std::vector<std::string> ops;           // "NN", "TN"; all when empty
  std::vector<NamedShape> shapes;         // to search for the best of each, besides
  std::vector<NamedShape> judges;         // what else the planner's choices are judged by
  std::vector<NamedShape> fresh;          // what decides at the end whether they are better than before
  Precision precision = Precision::fp32;  // whose kernels are searched
};

struct TuneCounts {
  std::size_t proposed = 0;
  std::size_t refused = 0;  // by the compiler or the device
  std::size_t wrong = 0;
  std::size_t timed = 0;
  std::size_t improved = 0;  // best of some probe when they were timed
};

class Tuner {
 public:
  // `base`: what the library chooses by now, which the search goes on from. `known`: other measurements to
  // start from. `stop`: whether to come to an end before the budget is used up. Throws unsupported where the
  // device has no kernels of the precision.
  Tuner(Device& device, const TuneOptions& options, const Tuning& base, const std::vector<Tuning>& known,
        const std::atomic<bool>& stop);

  // Searches until half of the budget is used up, and calls `checkpoint` now and then. All later
  // parts keep within the budget, too.
  void search(const std::function<void()>& checkpoint);

  // Measures the best once more, leaves out what leads the planner astray, and looks for the best of each
  // shape.
  void finish();

  // Answers what was found, as far as the planner has a use for it, and what there was and was not looked at
  // again.
  Tuning result() const;

  // Times what the library chooses now and what it would choose by `after`, in turns: on the shapes that
  // were asked for and then on fresh ones that take a small part of the budget, as long as that lasts.
  Comparison compare(const Planner& before, const Planner& after);
  // The same on these shapes, whatever is left of the budget.
  Comparison compare_on(const std::vector<NamedShape>& shapes, const Planner& before, const Planner& after) {
    return compare(shapes, before, after, false);
  }

  const TuneCounts& counts() const { return counts_; }
  double seconds_left() const {
    return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
  }
  // For people: how fast the best are on the probes of each kind of operands.
  std::string summary() const;

 private:
  // Keeps `reserve_` of the budget for what comes later.
  bool enough() const { return stop_ || seconds_left() <= reserve_ * options_.budget; }
  std::vector<std::optional<std::string>> compile(const std::vector<const Variant*>& kernels);

  // A setting is checked, calibrated, and timed where the model expects it among the best. Its kernel is
  // forgotten where it is not.
  void try_out(Field& field, const SharedSetting& setting);
  void calibrate(const Field& field, TriedSetting& setting, bool whole);
  std::vector<Schedule> schedules_for(const Calibration& setting, const Problem& problem) const;
  double quality_of(const Field& field, const Calibration& setting) const;
  void time_on(Field& field, Probe& probe, const SharedSetting& setting);
  Probe::Score best_splits(const Probe& probe, const SharedSetting& setting,
                           const std::vector<Schedule>& schedules);
  void time_again(const Problem& problem, std::span<Probe::Score> scores, const Effort& effort);
  void erase_unless_best(const Field& field, const TriedSetting& setting);

  void measure_again(Field& field);
  PlannerFit fit(const std::vector<Calibration>& calibrations);
  void tune_shapes();
  std::optional<TunedShape> tune(const Problem& problem, const std::vector<Schedule>& schedules);
  std::vector<Calibration> found() const;
  std::vector<Calibration> chosen() const;
  std::vector<Calibration> with_base(std::vector<Calibration> all) const;
  bool is_searched(const Calibration& calibration) const;
  Comparison compare(const std::vector<NamedShape>& shapes, const Planner& before, const Planner& after,
                     bool limited);

  Device& device_;
  const DeviceInfo& info_;
  const TuneOptions options_;
  const std::atomic<bool>& stop_;
  const std::chrono::steady_clock::time_point end_;
  double reserve_ = 0.0;
  ProgramCache programs_;
  Stopwatch stopwatch_;
  Calibrator calibrator_;
  Random random_;
  Tuning facts_;  // of the device, without kernels
  const Tuning base_;
  std::vector<Field> fields_;
  Proposals proposals_;
  TuneCounts counts_;
  std::set<std::string> seen_;    // kernels that were looked at, whatever came of it
  std::set<std::string> failed_;  // those of them that did not run, or were wrong
  std::optional<PlannerFit> fit_;
  std::vector<TunedShape> tuned_shapes_;
};

// Compiles kernels into `programs` on several threads until `enough` says so. Answers what the compiler said
// of each that it refused, an empty text where it went well, and nothing for those that nobody has begun.
std::vector<std::optional<std::string>> compile_all(std::span<const Variant* const> kernels,
                                                    ProgramCache& programs, unsigned threads,
                                                    const std::function<bool()>& enough);

// A search tells this in a result file: bench/schema/README.md describes it.
struct TuneReport {
  DeviceInfo device;
  double budget = 0.0;  // seconds
  std::uint64_t seed = 0;
  Precision precision = Precision::fp32;
  TuneCounts counts;
  Comparison compared;  // what decided whether to keep it
  Comparison held_out;  // before and what was kept, on shapes that nothing was decided by
  bool written = false;
  std::vector<std::string> warnings;
};
Json to_json(const TuneReport& report);

}  // namespace duogemm::bench
