// The result file of a comparison, as bench/schema/README.md describes it.
#pragma once

#include <string>
#include <vector>

#include "compare/compare_run.h"

namespace duogemm::bench {

std::string compare_json(const std::vector<CompareReport>& reports, const CompareRequest& request);

}  // namespace duogemm::bench
