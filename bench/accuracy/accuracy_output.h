// What is printed of errors, and their result file, which bench/schema/README.md describes.
#pragma once

#include <string>

#include "accuracy/accuracy.h"

namespace duogemm::bench {

std::string accuracy_text(const AccuracyReport& report);
std::string accuracy_json(const AccuracyReport& report);

}  // namespace duogemm::bench
