// Measures what the cost model wants to know of a kernel (common/plan/cost_model.h).
#pragma once

#include "families/plan.h"
#include "plan/tuning.h"
#include "timing/stopwatch.h"
#include "tune/probes.h"

namespace duogemm::bench {

class Calibrator {
 public:
  // Says whether a kernel with these timings, its first two or all, deserves to be measured further.
  using Promising = std::function<bool(const std::vector<Timing>&)>;

  // `cache`: how many bytes the device's last cache holds. Measures less of what takes longer than `patience`
  // seconds at once.
  Calibrator(Stopwatch& stopwatch, const DeviceInfo& device, double cache, double patience);

  // One kernel with all its tunables, on operands of the kind that they are for. Throws unsupported where the
  // kernel has no tiles to count, or does not take operands of the kind.
  Calibration calibrate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind,
                        const Promising& promising);

 private:
  double seconds(const Calibration& setting, const Problem& problem);
  // Each answers nothing where there is no more to measure. `longest`: what the answer before took, for each
  // group of `count`, or of skinny operands altogether; becomes that of this one.
  std::optional<Timing> timing(const Calibration& setting, const OperandKind& kind, int count,
                               double& longest);
  std::optional<Timing> skinny_timing(const Calibration& setting, const OperandKind& kind, int count,
                                      double& longest);

  Stopwatch& stopwatch_;
  const DeviceInfo& device_;
  double cache_;
  double patience_;
};

// A kernel with all its tunables computes the problem so; empty where the problem fixes others.
std::optional<Schedule> schedule_of(const Calibration& setting, std::int64_t splits, const Problem& problem,
                                    const DeviceInfo& device);

}  // namespace duogemm::bench
