// The search for the settings of the production kernels that are fastest on a device.
//
// Every setting that is looked at is compiled for one kind of operands, checked on problems that show
// mistakes, and calibrated for the cost model. The model then tells on which probes it may be among the best;
// there it is timed (trials.h). Those that were the best of a probe are the parents of the next settings
// (proposals.h). Compiling takes the most time by far: it happens on several threads at once, between the
// measurements, because launches wait for the compiler of some drivers.
#pragma once

#include "tune/comparison.h"
#include "tune/planner_fit.h"
#include "tune/proposals.h"
#include "tune/trials.h"

namespace duogemm::bench {

class Tuner {
 public:
  // `resumed`: the result of an earlier search, which this one goes on from. `known`: other measurements to
  // start from. `stop`: whether to come to an end before the budget is used up.
  Tuner(Device& device, const TuneOptions& options, const Tuning& resumed, const std::vector<Tuning>& known,
        const std::atomic<bool>& stop);

  // Searches until three quarters of the budget are used up, and calls `checkpoint` now and then. All later
  // parts keep within the budget, too.
  void search(const std::function<void()>& checkpoint);

  // Measures the best once more, leaves out what leads the planner astray, and looks for the best of each
  // shape.
  void finish();

  // Answers what was found, as far as the planner has a use for it, and what was resumed and not looked at
  // again.
  Tuning result() const;

  // Times what the library chooses now and what it would choose by `after`, in turns: on the shapes that
  // were asked for and then on any others, as long as the budget lasts.
  Comparison compare(const Planner& before, const Planner& after);
  // The same on these shapes, whatever is left of the budget.
  Comparison compare_on(const std::vector<NamedShape>& shapes, const Planner& before, const Planner& after);

  const TuneCounts& counts() const { return counts_; }
  double seconds_left() const { return bench_.seconds_left(); }
  // For people: the best time of each probe, in one line for each kind of operands.
  std::string summary() const;

 private:
  // The planner knows this already.
  const Tuning& base() const;
  bool is_searched(const Calibration& calibration) const;
  PlannerFit fit(std::span<const Field> fields, const std::vector<Calibration>& calibrations);
  std::vector<Calibration> chosen(const Field& field) const;
  std::vector<Calibration> chosen() const;

  Workbench bench_;
  Tuning resumed_;
  std::vector<Field> fields_;
  Proposals proposals_;
  TuneCounts counts_;
  SettingTrials trials_;
  std::set<std::string> seen_;                      // kernels that were looked at, whatever came of it
  std::optional<std::vector<Calibration>> fitted_;  // of all fields
  double regret_ = 1.0;
  std::vector<TunedShape> tuned_shapes_;
};

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
