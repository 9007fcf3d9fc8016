// The search for the settings of the production kernels that are fastest on a device.
//
// Every setting that is looked at is compiled for one kind of operands, checked on problems that show
// mistakes, and calibrated for the cost model. The model then tells on which probes it may be among the best;
// there it is timed. Those that were the best of a probe are the parents of the next settings. Compiling
// takes the most time by far: it happens on threads of its own, far ahead.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <span>

#include "support/shapes.h"
#include "tune/before_after.h"
#include "tune/calibration.h"
#include "tune/compile_pool.h"
#include "tune/edge_check.h"
#include "tune/planner_fit.h"
#include "tune/setting_space.h"

namespace duogemm::bench {

struct TuneOptions {
  double budget = 300.0;  // seconds
  unsigned threads = 1;   // that compile
  std::uint64_t seed = 1;
  std::vector<std::string> ops;           // "NN", "TN"; all when empty
  std::vector<NamedShape> shapes;         // to search for the best of each, besides
  std::vector<NamedShape> judges;         // what else the planner's choices are judged by
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

  // What was found, as far as the planner has a use for it, and what was resumed and not looked at again.
  Tuning result() const;

  // Times what the library chooses now beside what it would choose by `after`, in turns: on the shapes that
  // were asked for and then on any others, as long as the budget lasts.
  Contest compare(const Planner& before, const Planner& after);
  // The same on these shapes, whatever is left of the budget.
  Contest compare_on(const std::vector<NamedShape>& shapes, const Planner& before, const Planner& after);

  const TuneCounts& counts() const { return counts_; }
  double seconds_left() const;
  // For people: the best time of each probe, in one line for each kind of operands.
  std::string summary() const;

 private:
  struct Score {
    double seconds;
    std::int64_t slices;
  };
  struct Candidate : Calibration {
    std::map<std::size_t, Score> scores = {};  // by probe
    double quality = 0.0;                      // see quality_of()
  };
  using Shared = std::shared_ptr<Candidate>;

  // Everything about one kind of operands.
  struct Field {
    OperandKind kind;
    std::vector<Probe> probes;
    std::vector<Problem> judges = {};
    std::vector<std::vector<Shared>> best;  // of each probe, the fastest first
    std::map<const KernelSpec*, SettingSpace> spaces;
    std::deque<Shared> seeds;
    std::vector<Shared> looked_at;
    std::unique_ptr<EdgeCheck> check;
    std::optional<std::vector<Calibration>> fitted = {};  // once the search is over
    double regret = 1.0;
  };
  struct Job {
    std::size_t field;
    Shared candidate;
  };

  void add_field(const OperandKind& kind, const std::vector<Tuning>& known);
  void add_seeds(Field& field, const std::vector<Tuning>& known);
  // What the planner knows already.
  const Tuning& base() const;
  bool is_searched(const Calibration& calibration) const;
  void keep_resumed(Tuning& all) const;

  void add_shapes();
  Field* field_of(const Problem& problem);

  void fill(CompilePool& pool);
  bool propose(CompilePool& pool);
  Shared next(Field& field);
  Shared breed(Field& field);
  std::optional<Tunables> draw(Field& field, const SettingSpace& space, const Candidate& parent);
  const Shared* parent(const Field& field);
  bool hopeless(const Field& field, const Candidate& candidate);
  bool is_new(const Field& field, const Candidate& candidate);

  void look_at(const CompilePool::Job& compiled);
  void look_at(Field& field, const Shared& candidate);
  void contend(Field& field, std::size_t probe, const Shared& candidate);
  Score best_slices(const Field& field, std::size_t probe, const Candidate& candidate,
                    const std::vector<Schedule>& schedules, double incumbent);
  void enter(Field& field, std::size_t probe, const Shared& candidate);
  std::vector<Schedule> schedules_for(const Candidate& candidate, const Problem& problem) const;
  double quality_of(const Field& field, const Candidate& candidate) const;
  void erase_unless_best(const Field& field, const Candidate& candidate);
  void measure_again(Field& field);
  PlannerFit fit(std::span<const Field> fields, const std::vector<Calibration>& calibrations);
  void compile(CompilePool& pool, const Problem& problem, std::span<const Schedule> schedules) const;
  std::vector<CompilePool::Job> finish(CompilePool& pool) const;
  void tune_shapes();
  std::optional<TunedShape> tune(const Problem& problem, const std::vector<Schedule>& schedules);
  std::vector<Schedule> worth_trying(const Problem& problem, const Tuning& all) const;
  static std::set<Shared> members(const Field& field);
  static std::vector<Calibration> calibrations(const Field& field);
  std::vector<Calibration> chosen(const Field& field) const;
  std::vector<Calibration> chosen() const;
  double incumbent(const Field& field, std::size_t probe) const;

  bool enough() const { return stop_ || seconds_left() <= reserve_ * options_.budget; }
  std::optional<Schedule> built_in(const Problem& problem) const;
  std::vector<NamedShape> problems_to_compare();
  void compare_on(const NamedShape& shape, const Planner& before, const Planner& after, Contest& contest);
  BeforeAfter time(const NamedShape& shape, const Schedule& before, const Schedule& after);

  Device& device_;
  TuneOptions options_;
  const std::atomic<bool>& stop_;
  std::chrono::steady_clock::time_point end_;
  ProgramCache programs_;
  Stopwatch stopwatch_;
  Calibrator calibrator_;
  Random random_;
  Tuning facts_;  // of the device, without kernels
  std::vector<Field> fields_;
  std::size_t turn_ = 0;  // whose the next proposal is
  std::set<std::string> proposed_;
  Tuning resumed_;
  std::set<std::string> seen_;  // kernels that were looked at, whatever came of it
  std::map<std::size_t, Job> jobs_;
  TuneCounts counts_;
  double reserve_ = 0.0;                            // the share of the budget that is for what comes later
  std::optional<std::vector<Calibration>> fitted_;  // of all fields
  double regret_ = 1.0;
  std::vector<TunedShape> tuned_shapes_;
};

}  // namespace duogemm::bench
