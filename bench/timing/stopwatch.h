// Times plans on operands that are simply there: short samples, many plans.
#pragma once

#include <limits>
#include <optional>

#include "check/guarded_operands.h"
#include "runtime/executor.h"

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

  // Answers how long one execution of the plan takes on the device: the median. Throws as SelfContainedPlan
  // does.
  double seconds(const Plan& plan, const Problem& problem, const Effort& effort);
  // The same for several plans of one problem that take turns.
  std::vector<double> seconds(const std::vector<Plan>& plans, const Problem& problem, const Effort& effort);

  double bandwidth() const { return bandwidth_; }  // of device memory, bytes per second
  double launch() const { return launch_; }        // seconds that one more kernel costs the device

  Queue& queue() { return *queue_; }

 private:
  // Answers how long `repeats` executions take, the device being kept busy until the host has put all of them
  // on the queue: what is timed is the device. once: what one takes, about; 0 while nobody knows.
  double sample(const SelfContainedPlan& plan, bool multiply_alone, int repeats, double once);
  void occupy(int launches, double seconds);
  void reserve(const Problem& problem);
  void measure_device();

  Device& device_;
  ProgramCache& programs_;
  std::unique_ptr<Queue> queue_;
  Extents extents_;
  std::optional<GuardedOperands> matrices_;
  PreparedPlan::Operands operands_ = {};
  std::unique_ptr<Buffer> stream_;            // what is moved to keep the device busy
  std::unique_ptr<SelfContainedPlan> mover_;  // moves a part of it
  double moving_ = 0.0;                       // how long that takes
  double host_seconds_ = 0.0;                 // that the host needs to put one kernel on the queue
  double wake_up_ = 0.0;  // that a kernel without work mostly takes at most, launched alone
  double bandwidth_ = 0.0;
  double launch_ = 0.0;
};

}  // namespace duogemm::bench
