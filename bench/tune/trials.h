// What is found out about a single setting: whether it is right, and what the cost model wants to know of it
// (common/plan/cost_model.h).
#pragma once

#include <deque>

#include "check/judge.h"
#include "families/kernel_spec.h"
#include "timing/stopwatch.h"
#include "tune/search_space.h"

namespace duogemm::bench {

// A kernel with all its tunables computes the problem so; empty where the problem fixes others.
std::optional<Schedule> schedule_of(const Calibration& setting, std::int64_t splits, const Problem& problem,
                                    const DeviceInfo& device);

// Checks that a kernel computes the right bits on problems that show its mistakes.
class EdgeCheck {
 public:
  EdgeCheck(const OperandKind& kind, Device& device, Queue& queue, ProgramCache& programs);

  // Says what is wrong; empty when everything is right.
  std::string fault(const KernelSpec& spec, const Tunables& tunables);

 private:
  struct Edge {
    Edge(const Problem& problem, Device& device, Queue& queue);
    HostProblem host;
    Judge judge;
    GuardedOperands operands;
  };
  std::string fault(Edge& edge, const Calibration& setting, std::int64_t splits);

  Device& device_;
  Queue& queue_;
  ProgramCache& programs_;
  std::deque<Edge> edges_;
};

struct Calibrator {
  // Says whether a kernel with these timings, its first two or all, deserves to be measured further.
  using Promising = std::function<bool(const std::vector<Timing>&)>;

  // One kernel with all its tunables, on operands of the kind that they are for. Throws unsupported where the
  // kernel has no tiles to count, or does not take operands of the kind.
  Calibration calibrate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind,
                        const Promising& promising) const;

  Stopwatch& stopwatch;
  const DeviceInfo& device;
  double cache;     // bytes that the device's last cache holds
  double patience;  // less is measured of what takes more seconds at once
};

}  // namespace duogemm::bench
