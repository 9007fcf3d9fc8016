// A comparison as tables and as a result file, which bench/schema/README.md describes.
#pragma once

#include <string>

#include "output/json.h"
#include "output/table.h"
#include "runner/compare_run.h"

namespace duogemm::bench {

// The device and the libraries.
std::string head_text(const CompareReport& report);

// A row per shape of the list that is there.
std::string list_text(const CompareReport& report, const std::string& list);

// The same in parts, for rows that are printed as they come. `report` needs no rows.
class ListTable {
 public:
  ListTable(const CompareReport& report, const ShapeList& list);
  std::string head() const { return table_.head(); }
  std::string row(const CompareReport& report, const ProblemRows& problem) const;

 private:
  Table table_;  // with rows that are as wide as those that will come
};

// The ratios to each other contender: per list, and over all.
std::string summary_text(const CompareReport& report);

Json compare_json(const std::vector<CompareReport>& reports, const CompareRequest& request);

}  // namespace duogemm::bench
