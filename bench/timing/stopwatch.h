// Times schedules on operands that are simply there: short samples, many schedules.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "check/guarded_operands.h"
#include "families/plan.h"

namespace duogemm::bench {

// See MeasureOptions.
struct Effort {
  std::size_t samples = 3;
  double sample_seconds = 1e-4;
  double hopeless = std::numeric_limits<double>::infinity();
  bool multiply_alone = false;  // without the steps before and after it
};

class Stopwatch {
 public:
  Stopwatch(Device& device, ProgramCache& programs);

  // Answers how long one execution of each takes on the device, which take turns: medians. Throws as lower()
  // and SelfContainedPlan do.
  std::vector<double> seconds(std::span<const Schedule> schedules, const Problem& problem,
                              const Effort& effort);
  double seconds(const Schedule& schedule, const Problem& problem, const Effort& effort) {
    return seconds({&schedule, 1}, problem, effort).front();
  }

  double launch() const { return launch_; }  // seconds that one more kernel costs the device

  Queue& queue() { return *queue_; }

 private:
  // Keeps the device busy until the host has put `launches` executions on the queue: what is timed is the
  // device. seconds: what one of them takes, about; 0 while nobody knows.
  void occupy(int launches, double seconds);
  void measure_device();

  Device& device_;
  ProgramCache& programs_;
  std::unique_ptr<Queue> queue_;
  Extents extents_;
  std::optional<GuardedOperands> matrices_;
  std::unique_ptr<Buffer> stream_;            // what is moved to keep the device busy
  std::unique_ptr<SelfContainedPlan> mover_;  // moves a part of it
  double moving_ = 0.0;                       // how long that takes
  double host_seconds_ = 0.0;                 // that the host needs to put one kernel on the queue
  double wake_up_ = 0.0;  // that a kernel without work mostly takes at most, launched alone
  double launch_ = 0.0;
};

}  // namespace duogemm::bench
