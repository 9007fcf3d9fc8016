// What a search found, as a result file: bench/schema/README.md describes it.
#pragma once

#include "report/json_parts.h"
#include "tune/tuner.h"

namespace duogemm::bench {

struct TuneReport {
  DeviceInfo device;
  double budget = 0.0;  // seconds
  std::uint64_t seed = 0;
  Precision precision = Precision::fp32;
  TuneCounts counts;
  Contest compared;  // what decided whether to keep it
  Contest held_out;  // before and what was kept, on shapes that nothing was decided by
  bool written = false;
  std::vector<std::string> warnings;
};

Json to_json(const TuneReport& report);

}  // namespace duogemm::bench
