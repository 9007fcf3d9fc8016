// Times plans on operands that are simply there: short samples, many plans.
#pragma once

#include <array>
#include <functional>
#include <limits>

#include "runtime/executor.h"

namespace duogemm::bench {

struct Effort {
  int samples = 3;
  double sample_seconds = 1e-4;  // short work is repeated within a sample until it takes this long
  // Work that takes longer than this is not looked at any closer.
  double hopeless = std::numeric_limits<double>::infinity();
};

class Stopwatch {
 public:
  Stopwatch(Device& device, ProgramCache& programs);

  // How long one execution of the plan takes on the device: the median. Throws as SelfContainedPlan does.
  double seconds(const Plan& plan, const Problem& problem, const Effort& effort);
  // The same for several plans of one problem that take turns.
  std::vector<double> seconds(const std::vector<Plan>& plans, const Problem& problem, const Effort& effort);

  double bandwidth() const { return bandwidth_; }  // of device memory, bytes per second
  double launch() const { return launch_; }        // seconds that one more kernel costs the device

  Queue& queue() { return *queue_; }

 private:
  struct Warm {
    SelfContainedPlan plan;
    int repeats;
    double once;
  };
  Warm warm_up(const Plan& plan, const Effort& effort);
  double sample(const Warm& warm);
  void occupy(int launches, double seconds);
  void reserve(const Problem& problem);
  void reserve(std::size_t slot, std::int64_t elements);
  void measure_device();

  Device& device_;
  ProgramCache& programs_;
  std::unique_ptr<Queue> queue_;
  std::array<std::unique_ptr<Buffer>, 3> buffers_;
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
