// What makes a measurement doubtful.
#pragma once

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

// Lines for people, each beginning with "Warning: "; empty when there are none.
std::string warning_lines(const std::vector<std::string>& warnings);

}  // namespace duogemm::bench
