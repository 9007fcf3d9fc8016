// Says what makes a measurement doubtful.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/gpu_watch.h"
#include "timing/measure.h"

namespace duogemm::bench {

struct NamedSamples {
  std::string name;
  const Samples* samples;
};

// One sentence for each: the SM clock fell by more than 3 percent during the run; some spread more than 10
// percent; for some the time was up before the noise of the median was as low as wanted.
std::vector<std::string> timing_warnings(const std::vector<GpuMoment>& moments,
                                         std::span<const NamedSamples> samples, double wanted_noise);

// Warns of a reference library that takes this many times as long as what it is compared with; nothing where
// that may be.
std::optional<std::string> slow_reference_warning(const std::string& reference, double times,
                                                  const std::string& compared);

// Says by the load average that others use the machine, too; nothing where it is quiet.
std::optional<std::string> busy_warning(double load, unsigned cores);
// The same of this machine now. What this process does itself counts, too: ask before it does much.
std::optional<std::string> busy_warning();

}  // namespace duogemm::bench
