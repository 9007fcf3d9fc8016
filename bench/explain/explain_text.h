// An explanation for people.
#pragma once

#include <string>

#include "explain/explain.h"

namespace duogemm::bench {

// A table with a column for each explanation, and what follows from it in a sentence for each.
std::string explain_text(const std::vector<Explanation>& explanations);

}  // namespace duogemm::bench
