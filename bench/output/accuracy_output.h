// Errors as a table and as a result file, which bench/schema/README.md describes.
#pragma once

#include <string>

#include "output/json.h"
#include "runner/accuracy_run.h"

namespace duogemm::bench {

std::string accuracy_text(const AccuracyReport& report);
Json accuracy_json(const AccuracyReport& report);

}  // namespace duogemm::bench
