// The choice among the production kernels: which one, with which tunables, what is packed before it, and
// how many splits of k there are.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "families/plan.h"
#include "plan/cost_model.h"

namespace duogemm {

// The measurements of a device, as tuning_for() has them. For a GPU of which that has no kernels those of
// another one are scaled; where there are none, what the device says of itself tells how long a few
// well-shaped kernels should take. Kernels for split terms are calculated, too, where it has none that the
// device can run.
Tuning tuning_or_analytic(const DeviceInfo& device);

// The same of a device on which that kernel does not work, though its compute capability has it.
Tuning tuning_without(const KernelSpec& kernel, const DeviceInfo& device);

// All that is known of a device before a problem comes, in the form in which a choice is quick.
class Planner {
 public:
  // With measurements or, where the tuning has none, what the device says of itself (see tuning_or_analytic).
  explicit Planner(const DeviceInfo& device);
  Planner(const DeviceInfo& device, Tuning tuning);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  const DeviceInfo& device() const { return device_; }
  const Tuning& tuning() const { return tuning_; }

  // The problem in FP32 where it owes terms that the device cannot multiply. Others are as they are.
  Problem as_owed(const Problem& problem) const;

  // Answers what the environment variable DUOGEMM_FORCE says, or else what was measured for this very shape,
  // or else what is predicted to be the fastest of what the device can run. The problem multiplies.
  Schedule select(const Problem& problem) const;

  // Whatever the candidates allow for the problem, the fastest by prediction first; where there is nothing,
  // what select() falls back to.
  std::vector<Schedule> rank(const Problem& problem) const;

  // Each kernel of which no setting is a candidate for the problem, and the reason.
  std::vector<std::pair<const KernelSpec*, std::string>> left_out(const Problem& problem) const;

  // Whatever one calibration offers for the problem, with splits in ascending order; may be none.
  static std::vector<Schedule> offers(const Calibration& calibration, const Problem& problem,
                                      const DeviceInfo& device, const Tuning& facts);

  // Every kernel that select() may answer without DUOGEMM_FORCE, each once; of a CPU, those that it answers
  // for a few problems of each kind.
  std::vector<const Variant*> kernels() const;

 private:
  struct Kernel {
    const KernelSpec* spec;
    std::vector<std::vector<Candidate>> candidates;  // by storage
  };
  class Search;

  void add(const Calibration& calibration);
  // Why the kernel has no candidate for the problem; nothing where it has one.
  std::optional<std::string> obstacle(const KernelSpec& spec, const Problem& problem) const;
  std::vector<Schedule> all_schedules(const Problem& problem) const;
  std::optional<Schedule> forced(const Problem& problem) const;
  std::optional<Schedule> tuned(const Problem& problem) const;
  // Answers without any candidate.
  Schedule fallback(const Problem& problem) const;
  // The kernel that multiplies the terms of a problem that owes them: always the same for problems stored in
  // this way, because others add up otherwise. Null where the device has none.
  const Kernel* owed_kernel(const Problem& problem) const;

  DeviceInfo device_;
  Tuning tuning_;
  CostFacts facts_;
  bool packs_and_reduces_;  // the device has room for the work-groups of the kernels that do so
  std::vector<Kernel> kernels_;
  // Seconds that one multiplication and addition in FP32 takes, at the least, where the whole device is busy.
  double least_per_product_ = std::numeric_limits<double>::infinity();
};

// Answers what to use where nothing was measured, and nothing calculated.
ScheduleRequest unmeasured_request(const Problem& problem, const DeviceInfo& device);

// The planner of a device, made when it is first asked for; it lives as long as the process.
const Planner& planner_for(const DeviceInfo& device);

}  // namespace duogemm
