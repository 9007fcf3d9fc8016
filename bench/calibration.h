// Measures what the cost model wants to know of a kernel (common/cost_model.h).
#pragma once

#include "probes.h"
#include "stopwatch.h"
#include "tuning.h"

namespace duogemm::bench {

// The timings of one kernel with all its tunables, on operands of the kind that they are for: the first two,
// and more if those that there are are `promising`. Takes less where one execution takes longer than
// `patience` seconds. Throws unsupported where the kernel has no tiles to count, or does not take operands of
// the kind.
std::vector<Timing> calibrate(const KernelSpec& spec, const Tunables& tunables, const OperandKind& kind,
                              const DeviceInfo& device, Stopwatch& stopwatch, double patience,
                              const std::function<bool(const std::vector<Timing>&)>& promising);

// The plan of a kernel with all its tunables; empty where the problem dictates others.
std::optional<Plan> plan_of(const KernelSpec& spec, const Tunables& tunables, std::int64_t parts,
                            const Problem& problem, const DeviceInfo& device);

}  // namespace duogemm::bench
