// What a comparison prints.
#pragma once

#include <string>

#include "compare/compare_report.h"

namespace duogemm::bench {

// The device and the libraries.
std::string head_text(const CompareReport& report);

// A row per shape of the list, and the ratios over all of them.
std::string list_text(const CompareReport& report, const std::string& list);

// The ratios to each other contender: per list, and over all.
std::string summary_text(const CompareReport& report);

}  // namespace duogemm::bench
