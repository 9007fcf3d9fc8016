// A sweep as a table, as CSV and as a result file, which bench/schema/README.md describes.
#pragma once

#include <string>

#include "output/json.h"
#include "runner/sweep_run.h"

namespace duogemm::bench {

// Prints one axis as a line for each value, and two as a line for each value of the first with a column for
// each of the second.
class SweepText {
 public:
  // The lines that are done and were not told yet, the first time with the head before them.
  std::string more(const SweepReport& report);
  // The rest of a sweep that is done.
  std::string end(const SweepReport& report);

 private:
  std::size_t lines_ = 0;  // told so far
};

std::string sweep_csv(const SweepReport& report);
Json sweep_json(const SweepReport& report, const SweepRequest& request);

}  // namespace duogemm::bench
