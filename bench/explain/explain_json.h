// An explanation for programs; bench/schema/README.md describes it.
#pragma once

#include <string>

#include "explain/explain.h"

namespace duogemm::bench {

std::string explain_json(const ExplainReport& report, const ExplainRequest& request);

}  // namespace duogemm::bench
