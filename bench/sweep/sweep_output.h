// A sweep as a table, as CSV and as a result file, which bench/schema/README.md describes.
#pragma once

#include <string>

#include "sweep/sweep.h"

namespace duogemm::bench {

// One axis: a line for each value. Two: a line for each value of the first, a column for each of the second.
std::string sweep_text(const SweepReport& report);
std::string sweep_csv(const SweepReport& report);
std::string sweep_json(const SweepReport& report, const SweepRequest& request);

}  // namespace duogemm::bench
